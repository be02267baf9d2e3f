//! The topics of two claims, which decide what each may leave unsaid. A claim need not repeat its
//! topic; claims in sibling topics are not related.

use std::collections::BTreeSet;

use crate::claim::{key_of_word, name_parts};

/// How two topics relate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TopicRelation {
    Same,
    /// The first is above the second.
    Above,
    Below,
    Apart,
}

pub(crate) struct TopicPair {
    pub(crate) relation: TopicRelation,
    /// Whether there is no topic: both claims are about the whole project.
    pub(crate) bare: bool,
    /// The words of each topic.
    pub(crate) left: BTreeSet<String>,
    pub(crate) right: BTreeSet<String>,
    /// The words that only one of them has.
    pub(crate) own: BTreeSet<String>,
}

impl TopicPair {
    pub(crate) fn new(left: &str, right: &str) -> Self {
        let (a, b) = (segments(left), segments(right));
        let common = a.iter().zip(&b).take_while(|it| it.0 == it.1).count();
        let relation = match (a.len() - common, b.len() - common) {
            (0, 0) => TopicRelation::Same,
            (0, _) => TopicRelation::Above,
            (_, 0) => TopicRelation::Below,
            _ => TopicRelation::Apart,
        };
        let words = |it: &[String]| {
            it.iter()
                .flat_map(|it| topic_words(it))
                .collect::<BTreeSet<_>>()
        };
        let rest = a.iter().skip(common).chain(b.iter().skip(common));
        Self {
            relation,
            bare: a.is_empty() && b.is_empty(),
            left: words(&a),
            right: words(&b),
            own: rest.flat_map(|it| topic_words(it)).collect(),
        }
    }
}

fn segments(topic: &str) -> Vec<String> {
    let parts = topic.split('/').map(|it| it.trim().to_lowercase());
    parts.filter(|it| !it.is_empty()).collect()
}

/// The words of a topic, as keys of terms.
pub(crate) fn topic_words(topic: &str) -> BTreeSet<String> {
    name_parts(topic).iter().map(|it| key_of_word(it)).collect()
}
