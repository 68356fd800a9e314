"""The collection service: campaigns from consent to release."""
