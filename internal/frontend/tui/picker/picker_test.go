package picker

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
	"github.com/pawl-dev/pawl/internal/frontend/tui/uitest"
)

func shared(t testing.TB, appearance string) *ui.Shared {
	t.Helper()
	return uitest.Shared(t, nil, appearance)
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	lines := strings.Split(got, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	got = strings.Join(lines, "\n") + "\n"
	uitest.Same(t, path, got)
}

// press gives a dialog keys, by their names; what is no key's name is text.
func press(t *testing.T, d ui.Dialog, names ...string) (ui.Dialog, []tea.Msg) {
	t.Helper()
	var sent []tea.Msg
	for _, name := range names {
		k, ok := special[name]
		if !ok {
			k = tea.KeyPressMsg{Text: name, Code: []rune(name)[0]}
		}
		next, cmd := d.Update(k)
		if cmd != nil {
			sent = append(sent, cmd())
		}
		if next == nil {
			return nil, sent
		}
		d = next
	}
	return d, sent
}

var special = map[string]tea.KeyPressMsg{
	"up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown}, "enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape},
	"home": {Code: tea.KeyHome}, "end": {Code: tea.KeyEnd}, "pgdown": {Code: tea.KeyPgDown}, "pgup": {Code: tea.KeyPgUp},
	"backspace": {Code: tea.KeyBackspace}, "ctrl+u": {Code: 'u', Mod: tea.ModCtrl}, "ctrl+x": {Code: 'x', Mod: tea.ModCtrl},
	"ctrl+w": {Code: 'w', Mod: tea.ModCtrl},
}

func fruit() []Item {
	return []Item{
		{ID: "1", Title: "apple", Detail: "red or green", Group: "trees"},
		{ID: "2", Title: "pear", Detail: "green", Group: "trees"},
		{ID: "3", Title: "straw berry", Detail: "red", Group: "low"},
		{ID: "4", Title: "evil\x1b]0;owned\x07\u202e", Detail: "\x1b[31mred", Group: "low\x1b[2J"},
	}
}

func TestView(t *testing.T) {
	t.Parallel()
	appearance := func(w, h int) string { return fmt.Sprintf("look %dx%d\nmore", w, h) }
	with := fruit()
	for i := range with {
		with[i].Preview = appearance
	}
	for _, c := range []struct {
		name          string
		items         []Item
		keys          []string
		width, height int
	}{
		{"all-80", fruit(), nil, 80, 24},
		{"query-80", fruit(), []string{"r", "e"}, 80, 24},
		{"nothing-80", fruit(), []string{"z", "z"}, 80, 24},
		{"empty-80", nil, nil, 80, 24},
		{"preview-80", with, []string{"down"}, 80, 24},
		{"preview-120", with, []string{"down"}, 120, 40},
		{"narrow", fruit(), nil, 40, 12},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := New(shared(t, "plain"), "Fruit", c.items, Options{Keys: []Key{{"ctrl+x", "delete"}}, Empty: "no fruit here"})
			d, _ := press(t, p, c.keys...)
			got := d.View(c.width, c.height)
			for i, l := range strings.Split(got, "\n") {
				if w := ansi.StringWidth(l); w > c.width {
					t.Errorf("line %d is %d wide", i, w)
				}
			}
			golden(t, c.name, ansi.Strip(got))
		})
	}
}

// TestColors: what was found is marked, in color and without.
func TestColors(t *testing.T) {
	t.Parallel()
	for _, appearance := range []string{"dark", "plain"} {
		d, _ := press(t, New(shared(t, appearance), "Fruit", fruit()[:3], Options{}), "r")
		golden(t, "colors-"+appearance, strings.ReplaceAll(d.View(60, 14), "\x1b", "␛"))
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	opts := Options{ID: "fruit", Keys: []Key{{"ctrl+x", "delete"}}}
	for _, c := range []struct {
		name string
		keys []string
		opts Options
		want []tea.Msg
		open bool
	}{
		{"the first", []string{"enter"}, opts, []tea.Msg{Chosen{"fruit", "1"}}, false},
		{"past a group's name", []string{"down", "down", "enter"}, opts, []tea.Msg{Chosen{"fruit", "3"}}, false},
		{"and back", []string{"down", "down", "up", "enter"}, opts, []tea.Msg{Chosen{"fruit", "2"}}, false},
		{"not above the first", []string{"up", "up", "enter"}, opts, []tea.Msg{Chosen{"fruit", "1"}}, false},
		{"the last", []string{"end", "enter"}, opts, []tea.Msg{Chosen{"fruit", "4"}}, false},
		{"and the first again", []string{"end", "home", "enter"}, opts, []tea.Msg{Chosen{"fruit", "1"}}, false},
		{"what fits", []string{"p", "r", "enter"}, opts, []tea.Msg{Chosen{"fruit", "2"}}, false},
		{"what fits by its detail", []string{"o", "r", " ", "g", "enter"}, opts, []tea.Msg{Chosen{"fruit", "1"}}, false},
		{"nothing fits", []string{"z", "enter"}, opts, nil, true},
		{"a letter back", []string{"z", "backspace", "enter"}, opts, []tea.Msg{Chosen{"fruit", "1"}}, false},
		{"a word back", []string{"p", " ", "z", "ctrl+w", "enter"}, opts, []tea.Msg{Chosen{"fruit", "2"}}, false},
		{"all back", []string{"z", "z", "ctrl+u", "enter"}, opts, []tea.Msg{Chosen{"fruit", "1"}}, false},
		{"closed", []string{"esc"}, opts, []tea.Msg{Closed{"fruit"}}, false},
		{"a key of its own", []string{"down", "ctrl+x"}, opts, []tea.Msg{Pressed{"fruit", "2", "ctrl+x"}}, true},
		{"begins elsewhere", []string{"enter"}, Options{Chosen: "3"}, []tea.Msg{Chosen{"Fruit", "3"}}, false},
		{"begins with a query", []string{"enter"}, Options{Query: "pear"}, []tea.Msg{Chosen{"Fruit", "2"}}, false},
		{"tells of moves", []string{"down", "up", "up"}, Options{Follow: true}, []tea.Msg{Moved{"Fruit", "2"}, Moved{"Fruit", "1"}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, sent := press(t, New(shared(t, "plain"), "Fruit", fruit(), c.opts), c.keys...)
			if diff := cmp.Diff(c.want, sent); diff != "" {
				t.Error(diff)
			}
			if (d != nil) != c.open {
				t.Errorf("open: %v", d != nil)
			}
		})
	}
}

// TestFill: items that come later keep the bar and the query.
func TestFill(t *testing.T) {
	t.Parallel()
	p := New(shared(t, "plain"), "Fruit", fruit()[:2], Options{})
	d, _ := press(t, p, "down")
	d, _ = d.Update(Fill{"Other", nil})
	d, _ = d.Update(Fill{"Fruit", append([]Item{{ID: "0", Title: "new"}}, fruit()...)})
	_, sent := press(t, d, "enter")
	if diff := cmp.Diff([]tea.Msg{Chosen{"Fruit", "2"}}, sent); diff != "" {
		t.Error(diff)
	}
}

// TestMouse: a click moves the bar, a second one chooses, the frame is no item.
func TestMouse(t *testing.T) {
	t.Parallel()
	p := New(shared(t, "plain"), "Fruit", fruit(), Options{})
	lines := strings.Split(ansi.Strip(p.View(80, 24)), "\n")
	top := (24 - len(lines)) / 2
	y := 0
	for i, l := range lines {
		if strings.Contains(l, "pear") {
			y = top + i
		}
	}
	click := tea.MouseClickMsg{X: 10, Y: y, Button: tea.MouseLeft}
	for _, other := range []tea.MouseClickMsg{{X: 0, Y: y, Button: tea.MouseLeft}, {X: 10, Y: top, Button: tea.MouseLeft}, {X: 10, Y: y, Button: tea.MouseRight}} {
		if d, cmd := p.Update(other); d == nil || cmd != nil {
			t.Fatalf("a click on nothing chose: %v", other)
		}
	}
	if d, cmd := p.Update(click); d == nil || cmd != nil {
		t.Fatal("the first click chose")
	}
	d, cmd := p.Update(click)
	if d != nil || cmd == nil {
		t.Fatal("the second click did not choose")
	}
	if diff := cmp.Diff(tea.Msg(Chosen{"Fruit", "2"}), cmd()); diff != "" {
		t.Error(diff)
	}
}

// styles are the only sequences that may come.
var styles = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// TestSafe: whatever is in an item, no control gets through but our own styles.
func TestSafe(t *testing.T) {
	t.Parallel()
	s := shared(t, "plain")
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string { return string(rapid.SliceOf(rapid.Byte()).Draw(t, name)) }
		p := New(s, text("title"), []Item{{ID: "1", Title: text("item"), Detail: text("detail"), Group: text("group")}}, Options{Query: text("query"), Empty: text("empty")})
		if got := styles.ReplaceAllString(p.View(80, 24), ""); strings.ContainsFunc(got, func(r rune) bool { return r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 }) {
			t.Fatalf("%q", got)
		}
	})
}

// TestNarrowing: searching letter by letter finds what searching at once finds.
func TestNarrowing(t *testing.T) {
	t.Parallel()
	s := shared(t, "plain")
	rapid.Check(t, func(t *rapid.T) {
		var items []Item
		for i, title := range rapid.SliceOfN(rapid.StringMatching(`[ab/ .]{0,6}`), 0, 12).Draw(t, "titles") {
			items = append(items, Item{ID: fmt.Sprint(i), Title: title, Detail: rapid.StringMatching(`[abc]{0,3}`).Draw(t, "detail")})
		}
		query := rapid.StringMatching(`[abc ]{0,4}`).Draw(t, "query")
		slow := New(s, "x", items, Options{})
		for _, r := range query {
			slow.search(slow.query + string(r))
		}
		quick := New(s, "x", items, Options{Query: query})
		if diff := cmp.Diff(quick.rows, slow.rows, cmp.AllowUnexported(row{})); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestScore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		query string
		best  string
		other string // "" means that it does not fit
	}{
		{"app", "app.go", "internal/a/pp.go"},
		{"ed", "editor.go", "needed.go"},
		{"view", "internal/frontend/tui/view.go", "internal/view/tui.go"},
		{"sg", "small/go", "songs"},
		{"tE", "Test", ""},
		{"view tui", "internal/frontend/tui/view.go", "internal/view/tools.go"},
	} {
		q := NewQuery(c.query)
		best, ok := q.Score([]rune(c.best))
		if !ok {
			t.Errorf("%s does not fit %s", c.best, c.query)
		}
		if other, ok := q.Score([]rune(c.other)); ok && other >= best {
			t.Errorf("%s: %s %d, %s %d", c.query, c.best, best, c.other, other)
		}
	}
}

func many(n int) []Item {
	items := make([]Item, n)
	for i := range items {
		items[i] = Item{ID: fmt.Sprint(i), Title: fmt.Sprintf("internal/room%d/file_%d_test.go", i%97, i), Detail: "Go"}
	}
	return items
}

// BenchmarkView draws and moves in lists of different lengths: the cost is flat.
func BenchmarkView(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := New(shared(b, "dark"), "x", many(n), Options{})
			for b.Loop() {
				p.Update(tea.KeyPressMsg{Code: tea.KeyDown})
				p.View(120, 40)
			}
		})
	}
}

// BenchmarkSearch types a letter into 10,000 items.
func BenchmarkSearch(b *testing.B) {
	p := New(shared(b, "dark"), "x", many(10_000), Options{})
	for b.Loop() {
		p.search("")
		p.search("t")
		p.search("te")
	}
}
