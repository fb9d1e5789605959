"""One Streamlit script per page."""
