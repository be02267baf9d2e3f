//! How often nearness finds the claim that a new one contradicts in other words.

use std::collections::HashMap;

use engram_consistency::near::{ClaimSketch, Gist, NEAR, Sought, weight};
use engram_model::MAX_NEAR;

use crate::pairs::{of_other_classes, strangers};

/// The claims of one side of all pairs, as a home.
struct Claims {
    all: Vec<Gist>,
    having: HashMap<String, u64>,
}

impl Claims {
    fn of<'a>(claims: impl Iterator<Item = &'a str>) -> Self {
        let all: Vec<Gist> = claims.map(Gist::of).collect();
        let mut having = HashMap::new();
        for stem in all.iter().flat_map(Gist::stems) {
            *having.entry(stem.to_owned()).or_default() += 1;
        }
        Self { all, having }
    }

    fn having(&self, gist: &Gist) -> Vec<u64> {
        let having = gist.stems().map(|it| self.having.get(it).copied());
        having.map(Option::unwrap_or_default).collect()
    }

    fn weights(&self, gist: &Gist) -> Vec<f32> {
        let all = self.all.len() as u64;
        let having = self.having(gist);
        having.iter().map(|it| weight((*it).max(1), all)).collect()
    }

    fn sought<'g>(&self, gist: &'g Gist) -> Sought<'g> {
        Sought::new(gist, &self.having(gist), self.all.len() as u64)
    }

    /// The nearest, best first, each with its score.
    fn nearest(&self, claim: &str) -> Vec<(usize, f32)> {
        let gist = Gist::of(claim);
        let sought = self.sought(&gist);
        let scores = self.all.iter().map(|it| sought.nearness(it));
        let mut nearest: Vec<(usize, f32)> = scores.enumerate().collect();
        nearest.sort_by(|a, b| b.1.total_cmp(&a.1));
        nearest.truncate(MAX_NEAR);
        nearest
    }
}

#[test]
fn a_contradicting_claim_in_other_words_is_among_the_nearest() {
    let pairs: Vec<_> = strangers().into_iter().map(|it| it.0).collect();
    for (name, pairs) in [("strangers", pairs), ("other classes", of_other_classes())] {
        let home = Claims::of(pairs.iter().map(|it| it.a.as_str()));
        let (mut among, mut proposed, mut count, mut shown) = (0, 0, 0, 0);
        for (at, pair) in pairs.iter().enumerate().filter(|it| it.1.conflict) {
            let nearest = home.nearest(&pair.b);
            count += 1;
            among += usize::from(nearest.iter().any(|it| it.0 == at));
            proposed += usize::from(nearest.iter().any(|it| it.0 == at && it.1 >= NEAR));
            shown += nearest.iter().filter(|it| it.1 >= NEAR).count();
        }
        let share = |of: usize| of as f64 / f64::from(count);
        println!(
            "{name}, {} claims, {count} that contradict one of them: among the three nearest {:.2}, proposed {:.2}, claims proposed each {:.2}",
            pairs.len(),
            share(among),
            share(proposed),
            share(shown)
        );
        assert!(share(among) >= 0.90 && share(proposed) >= 0.80 && share(shown) <= 1.4);
    }
}

/// Without a home, words weigh what they weigh in general.
#[test]
fn claims_about_one_thing_are_near_without_a_home() {
    let pairs: Vec<_> = strangers().into_iter().map(|it| it.0).collect();
    let near = |a: &str, b: &str| {
        let gist = Gist::of(a);
        Sought::without_home(&gist).nearness(&Gist::of(b)) >= NEAR
    };
    let share = |found: usize, of: usize| found as f64 / of as f64;
    let against: Vec<_> = pairs.iter().filter(|it| it.conflict).collect();
    let found = against.iter().filter(|it| near(&it.a, &it.b)).count();
    // Each claim beside those of seven other pairs.
    let others = (0..pairs.len()).flat_map(|at| (1..8).map(move |by| (at, at + by * 31)));
    let others: Vec<_> = others
        .map(|(a, b)| (&pairs[a], &pairs[b % pairs.len()]))
        .collect();
    let strange = others.iter().filter(|it| near(&it.0.a, &it.1.b)).count();
    let (found, strange) = (share(found, against.len()), share(strange, others.len()));
    println!(
        "without a home: {found:.2} of contradictions are near, {strange:.3} of claims of two pairs"
    );
    assert!(found >= 0.70 && strange <= 0.01);
}

#[test]
fn values_and_hostile_texts_do_not_count() {
    let of = |claim: &str| {
        Gist::of(claim)
            .stems()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        of("MAX_UPLOAD_SIZE is 25 MB."),
        of("maxUploadSize = 100 MB")
    );
    for text in [
        "",
        "\0\u{202E}\u{1F980} 12",
        &"x".repeat(100_000),
        &"a b ".repeat(100_000),
        "die Größe ist 3",
    ] {
        let gist = Gist::of(text);
        let having = vec![0; gist.stems().count()];
        let near = Sought::new(&gist, &having, u64::MAX).nearness(&gist);
        assert!((0.0..=1.0).contains(&near), "{near}");
    }
}

/// The sketch rules most claims out before they are read, and none that is near: also in a home whose
/// claims all name the product, which weighs nothing there.
#[test]
fn a_sketch_rules_out_what_is_not_near() {
    let pairs: Vec<_> = strangers().into_iter().map(|it| it.0).collect();
    for (said, most) in [("", 2), ("In the Hedgerow gateway: ", 8)] {
        let text = |it: &str| format!("{said}{it}");
        let claims: Vec<String> = pairs.iter().map(|it| text(&it.a)).collect();
        let new: Vec<String> = pairs.iter().map(|it| text(&it.b)).collect();
        let (near, left) = assert_none_ruled_out(&claims, &new);
        println!("{near} are near, {left} have to be read");
        assert!(left <= most * near, "{left} of {near}");
    }
}

/// How many pairs are near, and how many the sketch leaves.
fn assert_none_ruled_out(claims: &[String], new: &[String]) -> (usize, usize) {
    let home = Claims::of(claims.iter().map(String::as_str));
    let sketches: Vec<_> = claims.iter().map(|it| ClaimSketch::of(it)).collect();
    let (mut near, mut left) = (0, 0);
    for claim in new {
        let gist = Gist::of(claim);
        let weights = home.weights(&gist);
        let sought = home.sought(&gist);
        for (other, sketch) in home.all.iter().zip(&sketches) {
            let both = gist.stems().zip(&weights);
            let both = both.filter(|it| other.stems().any(|stem| stem == it.0));
            let shared: f32 = both.map(|it| it.1).sum();
            let exact = sought.nearness(other);
            let most = sought.nearness_at_most(shared, Some(sketch), None);
            assert!(exact <= most, "{exact} {most}: {claim}");
            assert!(most <= sought.nearness_at_most(shared, None, None));
            near += usize::from(exact >= NEAR);
            left += usize::from(most >= NEAR);
        }
    }
    (near, left)
}
