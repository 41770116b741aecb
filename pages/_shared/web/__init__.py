"""What the middleware, the log and the error display have to know of Streamlit."""
