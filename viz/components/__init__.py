"""Small in-page components: Streamlit components v2, plain JavaScript, one folder each. Text only by textContent."""
