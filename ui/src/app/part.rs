//! Parts of the window's state that begin anew with each repository.

use leptos::prelude::*;

/// What holds a value of a part.
pub(crate) trait Slot<T> {
    fn of(first: T) -> Self;
    fn put(self, value: T);
}

impl<T: Send + Sync + 'static> Slot<T> for RwSignal<T> {
    fn of(first: T) -> Self {
        Self::new(first)
    }

    fn put(self, value: T) {
        self.set(value);
    }
}

impl<T: Send + Sync + 'static> Slot<T> for StoredValue<T> {
    fn of(first: T) -> Self {
        Self::new(first)
    }

    fn put(self, value: T) {
        self.set_value(value);
    }
}

/// A part of the window's state: each field with its first value, which `clear` gives back to it, so that no field
/// is forgotten when another repository comes to the front. What outlives that stands under `stays`.
macro_rules! part {
    (
        $(#[$about:meta])*
        $vis:vis struct $name:ident {
            $($(#[$of:meta])* $seen:vis $field:ident: $slot:ty = $first:expr,)*
            stays {
                $($(#[$of_stay:meta])* $stay_seen:vis $stay:ident: $type:ty = $value:expr,)*
            }
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy)]
        $vis struct $name {
            $($(#[$of])* $seen $field: $slot,)*
            $($(#[$of_stay])* $stay_seen $stay: $type,)*
        }

        impl $name {
            pub(crate) fn new() -> Self {
                Self {
                    $($field: $crate::app::part::Slot::of($first),)*
                    $($stay: $value,)*
                }
            }

            fn clear(self) {
                $($crate::app::part::Slot::put(self.$field, $first);)*
            }
        }
    };
}

pub(crate) use part;

#[cfg(test)]
mod tests {
    use leptos::prelude::*;

    part! {
        struct Both {
            /// Begins anew.
            anew: RwSignal<Vec<u32>> = vec![1],
            kept: StoredValue<Option<u32>> = None,
            stays {
                number: StoredValue<u64> = StoredValue::new(7),
            }
        }
    }

    #[test]
    fn all_begin_anew_but_what_stays() {
        let owner = Owner::new();
        owner.with(|| {
            let both = Both::new();
            both.anew.update(|all| all.push(2));
            both.kept.set_value(Some(3));
            both.number.set_value(8);
            both.clear();
            assert_eq!(both.anew.get_untracked(), [1]);
            assert_eq!(both.kept.get_value(), None);
            assert_eq!(both.number.get_value(), 8);
        });
    }
}
