//! Enums of words: each value is one word on the wire and is parsed from that word.

macro_rules! words {
    // The name of the type for people.
    (@called $name:ident) => { $crate::text::spaced(stringify!($name)) };
    (@called $name:ident $called:literal) => { $called };
    ($(#[$doc:meta])* $name:ident $(as $called:literal)? { $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum $name { $($(#[$vdoc])* #[serde(rename = $word)] $variant),+ }

        impl $name {
            /// Every value, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word on the wire.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::Refusal;

            fn from_str(text: &str) -> Result<Self, $crate::Refusal> {
                Self::ALL.iter().copied().find(|it| it.as_str() == text).ok_or_else(|| {
                    $crate::Refusal::new(
                        $crate::Code::SchemaInvalid,
                        format!("{:?} is not a valid {}", $crate::text::shorten(text, 40), words!(@called $name $($called)?)),
                        concat!("Use one of:", $(" ", $word),+, "."),
                    )
                })
            }
        }
    };
}
pub(crate) use words;
