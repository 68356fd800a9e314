"""CreateHeadList: which records are popular, from some of the opt-in users (Fig. 3)."""
