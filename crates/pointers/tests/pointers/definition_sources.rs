//! Sources in many languages, with each definition marked, and the names that must find it.

/// A source in which every definition stands between a line `«marker` and a line `»`. The test
/// removes these lines, which say what must be found.
pub(crate) struct Source {
    pub(crate) path: &'static str,
    text: &'static str,
}

/// `(name asked, marker of the definition)`.
pub(crate) type Cases = &'static [(&'static str, &'static str)];

pub(crate) const RUST: Source = Source {
    path: "tests/ledger.rs",
    text: r##"
//! reserve_is_idempotent is tested here.
use x::y;

«reserve
#[test]
#[should_panic(
    expected = "}"
)]
/// A comment.
fn reserve_is_idempotent<'a>(x: &'a str) -> Result<(), String>
where
    String: Sized,
{
    let open = '{'; // }
    let raw = r#"}"}"#;
    let text = "}\" { \
        }";
    /* } /* nested } */ */
    match x { _ => {} }
    Ok(())
}
»

«mod
mod nested {
    fn reserve() {}

    «inner
    #[tokio::test(flavor = "multi_thread")]
    pub(crate) async unsafe fn same_name() {
        call(|| { 1 });
    }
    »
}
»

«impl
impl<T> Trait for Ledger<T> {
    «method
    fn same_name(&self) { reserve_is_idempotent("") }
    »
}
»

trait Named {
    «declared
    fn declared(&self) -> [u8; 2];
    »
}

macros::case! { made_by_macro, 1 }
"##,
};

const PYTHON: Source = Source {
    path: "tests/test_ledger.py",
    text: r#"
"""test_plain is described here: def test_plain(): pass"""
import pytest

«plain
@pytest.mark.parametrize(
    "x",
    [
        (1, "a"),
        (2, "b"),
    ],
)
# why
@slow
async def test_plain(
    x,
    y="}",
) -> None:
    text = """
not indented
"""
    # done
# odd comment
    assert x

    if y:
        pass
»

# test_plain ends above
«class
class TestLedger(Base):
    """Doc."""

    def setup(self): pass

    «method
    @property
    def test_same(self):
        return 1
    »

    «last
    def test_last(self):
        d = {
    "a": 1,
        }
        return d
    »
»

«function
def test_same():
    return 2
»

x = 1
"#,
};

const SCRIPT: Source = Source {
    path: "src/ledger.test.ts",
    text: r#"
import { test } from 'vitest';
// it('adds') is below

«describe
describe('ledger', () => {
  beforeEach(() => {});

  «adds
  it('adds', async () => {
    expect(`${a + `)`}`).toBe(") }");
  });
  »

  «each
  it.each([
    [1, 2],
    [3, 4],
  ])('adds many', (a, b) => {
    expect(a).toBe(b);
  });
  »

  «template
  test.only(`it's "quoted"`, () => expect(1).toBe(1));
  »

  «skip
  test.skip("double", () => {
    /* ) */
  });
  »
});
»

«function
export async function helper<T>(a: { b: T }): Promise<{ c: T }> {
  return { c: a.b };
}
»

«arrow
export const arrow = (x: number) =>
  x + 1;
»

«block
const block = async () => {
  return 1;
};
»

«cls
export class Cart {
  «total
  @memo()
  async total(a: string): Promise<number> {
    return this.total(a);
  }
  »
}
»
"#,
};

const GO: Source = Source {
    path: "ledger_test.go",
    text: "
package ledger

// TestReserve checks.
«reserve
func TestReserve(t *testing.T) {
\ts := `}`
\tr := '}'
«sub
\tt.Run(\"sub case\", func(t *testing.T) {
\t\tif x { return }
\t})
»
}
»

«method
func (s *Suite) TestMethod() {
}
»

func TestReserveMore(t *testing.T) {}
",
};

const JAVA: Source = Source {
    path: "src/LedgerTest.java",
    text: r#"
package x;

«class
@Nested
class LedgerTest extends Base {
    int before = reserves(1);

    «reserves
    @Test
    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "1, 2",
        "3, 4"
    })
    public static <T> Map<String, List<T>> reserves(final int a, String b)
            throws IOException
    {
        String s = "}";
        return reserves(a, b);
    }
    »
}
»
"#,
};

const KOTLIN: Source = Source {
    path: "LedgerTest.kt",
    text: r#"
class LedgerTest {
    «spoken
    @Test
    fun `reserves once only`() = runTest {
        val s = """ } """
    }
    »

    «expression
    private fun short(x: Int) = x + 1
    »

    «after
    suspend fun after() {
        short(1)
    }
    »
}
"#,
};

const CSHARP: Source = Source {
    path: "LedgerTests.cs",
    text: r#"
namespace X;
public class LedgerTests
{
    «reserves
    [Theory]
    [InlineData(1)]
    public async Task Reserves_Once(int x)
    {
        await Reserves_Once(2);
    }
    »

    «arrow
    public int Arrow() => 1;
    »
}
"#,
};

const CPP: Source = Source {
    path: "ledger_test.cc",
    text: r#"
#include <x>

class Ledger : public ::testing::Test {
};

«fixture
TEST_F(Ledger, Reserves) {
  EXPECT_EQ("}", '}');
}
»

«other
TEST(Other, Reserves)
{
  if (x) { y(); }
}
»

«catch
TEST_CASE("adds numbers", "[math]") {
  «section
  SECTION("twice") {
  }
  »
}
»

static std::vector<int> *helper(const char *name, int x);
Ledger l(helper("", 1));

«function
static std::vector<int> *helper(const char *name, int x)
{
  return helper(name, x);
}
»

«method
void Ledger::close(bool now) const {
}
»
"#,
};

const RUBY: Source = Source {
    path: "spec/ledger_spec.rb",
    text: r#"
«describe
RSpec.describe "Ledger" do
  «it
  it "reserves once" do
    [1].each do |x|
      x
    end
  end
  »

  «braces
  it('is short') { expect("}").to eq 1 }
  »
end
»

«class
class LedgerTest < Minitest::Test
  «def
  def test_reserve!
    if true then 1 end
  end
  »

  «endless
  def short = 1
  »
end
»
"#,
};

const SHELL: Source = Source {
    path: "ledger.bats",
    text: r#"
«test
@test "reserves once" {
  run x "${y}"
  [ "$status" -eq 0 ] # }
}
»

«function
helper() {
  echo "}"
}
»
"#,
};

pub(crate) const TABLE: &[(&Source, Cases)] = &[
    (
        &RUST,
        &[
            ("reserve_is_idempotent", "reserve"),
            ("ledger::reserve_is_idempotent", "reserve"),
            ("reserve_is_idempotent[case-1]", "reserve"),
            ("nested::same_name", "inner"),
            ("crate::nested::same_name", "inner"),
            ("Ledger::same_name", "method"),
            ("same_name", "inner"),
            ("nested", "mod"),
            ("Ledger", "impl"),
            ("Named::declared", "declared"),
        ],
    ),
    (
        &PYTHON,
        &[
            ("test_plain", "plain"),
            ("test_plain[2-b]", "plain"),
            ("TestLedger", "class"),
            ("TestLedger::test_same", "method"),
            ("TestLedger.test_same", "method"),
            ("TestLedger::test_last[a::b]", "last"),
            ("test_last", "last"),
        ],
    ),
    (
        &SCRIPT,
        &[
            ("ledger", "describe"),
            ("adds", "adds"),
            ("ledger > adds", "adds"),
            ("ledger::adds many", "each"),
            (r#"it's "quoted""#, "template"),
            ("double", "skip"),
            ("helper", "function"),
            ("arrow", "arrow"),
            ("block", "block"),
            ("Cart", "cls"),
            ("Cart::total", "total"),
        ],
    ),
    (
        &GO,
        &[
            ("TestReserve", "reserve"),
            ("TestReserve/sub case", "sub"),
            ("TestReserve/sub_case", "sub"),
            ("TestMethod", "method"),
            ("Suite.TestMethod", "method"),
        ],
    ),
    (
        &JAVA,
        &[
            ("reserves", "reserves"),
            ("LedgerTest::reserves", "reserves"),
            ("LedgerTest#reserves", "reserves"),
            ("LedgerTest.reserves[1]", "reserves"),
            ("LedgerTest", "class"),
        ],
    ),
    (
        &KOTLIN,
        &[
            ("reserves once only", "spoken"),
            ("LedgerTest::reserves once only", "spoken"),
            ("short", "expression"),
            ("after", "after"),
        ],
    ),
    (
        &CSHARP,
        &[
            ("Reserves_Once", "reserves"),
            ("LedgerTests.Arrow", "arrow"),
        ],
    ),
    (
        &CPP,
        &[
            ("Ledger.Reserves", "fixture"),
            ("Ledger::Reserves", "fixture"),
            ("Other.Reserves", "other"),
            ("Reserves", "fixture"),
            ("adds numbers", "catch"),
            ("adds numbers::twice", "section"),
            ("helper", "function"),
            ("Ledger::close", "method"),
            ("close", "method"),
        ],
    ),
    (
        &RUBY,
        &[
            ("Ledger", "describe"),
            ("reserves once", "it"),
            ("Ledger::reserves once", "it"),
            ("is short", "braces"),
            ("LedgerTest", "class"),
            ("LedgerTest#test_reserve!", "def"),
            ("test_reserve!", "def"),
            ("short", "endless"),
        ],
    ),
    (&SHELL, &[("reserves once", "test"), ("helper", "function")]),
];

impl Source {
    /// The text without markers.
    pub(crate) fn plain(&self) -> String {
        let kept = self
            .text
            .split_inclusive('\n')
            .filter(|line| !is_marker(line));
        kept.collect()
    }

    /// The text between a marker and its end, without markers.
    pub(crate) fn marked(&self, marker: &str) -> String {
        let mut open = 0;
        let mut out = String::new();
        for line in self.text.split_inclusive('\n') {
            let trimmed = line.trim();
            match trimmed.strip_prefix('«') {
                Some(name) if name == marker || open > 0 => open += 1,
                None if trimmed == "»" && open > 0 => {
                    open -= 1;
                    if open == 0 {
                        return out;
                    }
                }
                None if open > 0 => out += line,
                _ => {}
            }
        }
        panic!("no {marker} in {}", self.path)
    }
}

fn is_marker(line: &str) -> bool {
    let line = line.trim();
    line.starts_with('«') || line == "»"
}
