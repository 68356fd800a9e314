DROP TABLE collector;
DROP TABLE issued_tokens;
DROP TABLE campaigns;
