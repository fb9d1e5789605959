"""The Transformer, its decoding, its recording and its training. Never imports streamlit or plotly."""
