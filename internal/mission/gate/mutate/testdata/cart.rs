//! A sample.
use std::collections::HashMap;

pub const LIMIT: usize = 10;

#[derive(Debug, Clone, Default)]
pub struct Cart<'a> {
    items: Vec<String>,
    prices: HashMap<String, u32>,
    owner: &'a str,
}

pub enum Kind {
    Small,
    Large(u32),
}

pub trait Priced {
    fn price(&self) -> u32;
    fn name(&self) -> String {
        String::from("none")
    }
}

impl<'a> Cart<'a> {
    pub fn add(&mut self, item: &str, count: usize) -> Result<usize, String> {
        if item.is_empty() || count > LIMIT {
            return Err(format!("bad item {}", 3));
        }
        for _ in 0..count {
            self.items.push(item.to_string());
        }
        let mut total = 0;
        while total < 5 && count != 0 {
            total += 1;
            if total % 2 == 0 {
                continue;
            }
        }
        if let Some(price) = self.prices.get(item) {
            total += *price as usize * 2;
        }
        eprintln!("added {}", item);
        Ok(self.items.len() + total)
    }

    pub fn size(&self) -> usize {
        self.items.len()
    }

    fn kind(&self, n: u32) -> Option<Kind> {
        match n {
            0 => None,
            1 | 2 => Some(Kind::Small),
            _ if n > 100 => {
                let big = n - 1;
                Some(Kind::Large(big))
            }
            _ => Some(Kind::Large(n)),
        }
    }

    fn check<T: Clone + Default>(&self, v: &[T], c: char) -> bool {
        let names: Vec<&str> = v.iter().map(|_| "x").collect();
        let f = |a: u32, b: u32| a + b;
        assert!(f(1, 2) == 3);
        return !names.is_empty() && c == 'a' && self.owner != "me";
    }
}

const fn double(x: u32) -> u32 {
    x * 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds() {
        let mut cart = Cart::default();
        assert_eq!(cart.add("a", 2), Ok(4), "added {}", 2);
        assert!(cart.size() == 2);
        assert_ne!(double(2), 5);
    }
}
