"""Pure functions from a slice of a trace to a Plotly figure or a file to take home. No streamlit, no torch."""
