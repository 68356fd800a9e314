"""Keys of campaigns and what is encrypted or drawn with them."""
