//! Parts of the window's state that are reset with each repository.

use leptos::prelude::*;

/// A cell that holds one value of a part.
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

/// Declares a part of the window's state, each field with its initial value. `reset` restores the
/// fields under `anew` when another repository opens, so that none is forgotten; fields under
/// `stays` keep their values.
macro_rules! part {
    (
        $(#[$about:meta])*
        $vis:vis struct $name:ident {
            anew {
                $($(#[$of:meta])* $seen:vis $field:ident: $slot:ty = $first:expr,)*
            }
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

            /// Forgets everything about the repository that was in front.
            pub(crate) fn reset(self) {
                $($crate::app::part::Slot::put(self.$field, $first);)*
            }
        }
    };
}

pub(crate) use part;
