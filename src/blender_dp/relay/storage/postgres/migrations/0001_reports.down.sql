DROP TABLE collector;
DROP TABLE reports;
DROP TABLE campaigns;
