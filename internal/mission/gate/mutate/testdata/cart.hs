module Cart where

import Data.List (sort)

total :: [Int] -> Int
total xs
  | null xs || length xs == 3 = 0
  | otherwise = sum (map (* 2) xs) + 1

name :: String
name = "cart"
