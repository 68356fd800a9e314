DROP TABLE relayed_pieces;
DROP TABLE relayed_batches;
