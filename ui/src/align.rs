//! Aligns two sequences in order, so that as many similar items as possible face each other.

/// Returns the index pairs, increasing in both sequences, with the highest total worth. A pair of
/// worth 0 is never chosen.
pub fn best_pairs(
    height: usize,
    width: usize,
    worth: impl Fn(usize, usize) -> usize,
) -> Vec<(usize, usize)> {
    let mut sums = vec![vec![0usize; width + 1]; height + 1];
    let mut worths = vec![vec![0usize; width]; height];
    for row in (0..height).rev() {
        for column in (0..width).rev() {
            let worth = worth(row, column);
            worths[row][column] = worth;
            let with = if worth > 0 {
                worth + sums[row + 1][column + 1]
            } else {
                0
            };
            sums[row][column] = with.max(sums[row + 1][column]).max(sums[row][column + 1]);
        }
    }
    let (mut row, mut column) = (0, 0);
    let mut pairs = Vec::new();
    while row < height && column < width {
        let worth = worths[row][column];
        if worth > 0 && sums[row][column] == worth + sums[row + 1][column + 1] {
            pairs.push((row, column));
            (row, column) = (row + 1, column + 1);
        } else if sums[row][column] == sums[row + 1][column] {
            row += 1;
        } else {
            column += 1;
        }
    }
    pairs
}

/// Marks the words that both texts have, in the same order. If there are more than `most` pairs of
/// words to compare, marks only the words with which both texts begin and end.
pub fn shared_words(a: &[&str], b: &[&str], most: usize) -> (Vec<bool>, Vec<bool>) {
    let start = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let ends = a[start..].iter().rev().zip(b[start..].iter().rev());
    let end = ends.take_while(|(a, b)| a == b).count();
    let (height, width) = (a.len() - start - end, b.len() - start - end);
    let mut same = (vec![true; a.len()], vec![true; b.len()]);
    same.0[start..start + height].fill(false);
    same.1[start..start + width].fill(false);
    if height.saturating_mul(width) <= most {
        let worth = |row: usize, column: usize| {
            if a[start + row] == b[start + column] {
                a[start + row].len()
            } else {
                0
            }
        };
        for (row, column) in best_pairs(height, width, worth) {
            same.0[start + row] = true;
            same.1[start + column] = true;
        }
    }
    same
}
