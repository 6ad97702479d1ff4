-- A sample.
CREATE TABLE cart (id INT PRIMARY KEY, total INT DEFAULT 0);
SELECT id, total + 1 FROM cart WHERE total >= 3 AND name = 'a';
