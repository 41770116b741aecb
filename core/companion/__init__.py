"""The companion: what happened, what is due, what is normal; and who may change what. Four wings over one contract."""
