DROP TABLE collector;
DROP TABLE bundles;
DROP TABLE campaigns;
