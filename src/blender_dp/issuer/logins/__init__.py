"""Logins: who a caller is, as the operator of the issuer knows people."""
