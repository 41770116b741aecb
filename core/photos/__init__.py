"""What is seen on a photo, in words: a safe download, a real image, Gemini's description, a chunk of memory."""
