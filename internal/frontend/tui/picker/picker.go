// Package picker is a list from which one thing is chosen: a line to search by,
// what fits it, and a look at what is chosen.
package picker

import (
	"cmp"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/pawl-dev/pawl/internal/frontend/tui/keys"
	"github.com/pawl-dev/pawl/internal/frontend/tui/textinput"
	"github.com/pawl-dev/pawl/internal/frontend/tui/ui"
)

// Item is one thing to choose. Its texts may be untrusted.
type Item struct {
	ID     string
	Title  string
	Detail string // shown at the end of its line, searched too
	Group  string // shown above the first of those that follow each other

	// Preview shows more of it within so many cells. What it returns reaches the
	// terminal as it is: third parties' texts must have been sanitized.
	Preview func(width, height int) string
}

// Key is another thing that can be done with the chosen item.
type Key struct {
	Key  string // as bubbletea names it
	Help string
}

// Options are what a picker may have besides. The zero value is useful.
type Options struct {
	ID     string // what its messages say; "" means the title
	Query  string // to begin with
	Chosen string // the ID of the item to begin with
	Empty  string // what is said when there is nothing to choose
	Keys   []Key  // each sends Pressed, and the picker stays
	Follow bool   // every move sends Moved
}

// Chosen says that an item was chosen. The picker is closed.
type Chosen struct{ Picker, ID string }

// Pressed says that a key of the options was pressed on an item; its ID is "" if
// none exists.
type Pressed struct{ Picker, ID, Key string }

// Moved says that another item is under the bar.
type Moved struct{ Picker, ID string }

// Closed says that nothing was chosen.
type Closed struct{ Picker string }

// Fill gives a picker other items, when they did not exist at once.
type Fill struct {
	Picker string
	Items  []Item
}

// Picker is a dialog; see [ui.Dialog].
type Picker struct {
	shared *ui.Shared
	title  string
	opts   Options

	items   []Item
	titles  [][]rune
	details []string // all of their texts, in lower case
	query   string
	rows    []row // what fits, and the groups' names
	fits    int   // how many items
	at      int   // the row under the bar
	top     int   // the first row that is shown
	listed  int   // rows that were shown last
	area    area  // where the rows were drawn last
}

// row is an item, or the name of a group if item is negative.
type row struct {
	item  int
	group string
	score int
}

var _ ui.Dialog = (*Picker)(nil)

// New returns a picker of items.
func New(s *ui.Shared, title string, items []Item, opts Options) *Picker {
	if opts.ID == "" {
		opts.ID = title
	}
	p := &Picker{shared: s, title: title, opts: opts, query: opts.Query}
	p.fill(items)
	if i := slices.IndexFunc(p.rows, func(r row) bool { return r.item >= 0 && items[r.item].ID == opts.Chosen }); i >= 0 && opts.Chosen != "" {
		p.at = i
	}
	return p
}

// Name is what its messages say.
func (p *Picker) Name() string { return p.opts.ID }

// fill takes items and keeps the bar on what it was on.
func (p *Picker) fill(items []Item) {
	id, had := p.ID()
	p.items = items
	p.titles, p.details = make([][]rune, len(items)), make([]string, len(items))
	for i, it := range items {
		p.titles[i] = []rune(it.Title)
		p.details[i] = strings.ToLower(it.Title + " " + it.Detail + " " + it.Group)
	}
	p.filter(nil)
	if !had {
		return
	}
	for i, r := range p.rows {
		if r.item >= 0 && items[r.item].ID == id {
			p.at = i
			return
		}
	}
}

// ID returns the item under the bar.
func (p *Picker) ID() (string, bool) {
	if p.at >= len(p.rows) || p.rows[p.at].item < 0 {
		return "", false
	}
	return p.items[p.rows[p.at].item].ID, true
}

// filter finds what fits the query: among some rows, or all items if nil. The
// best comes first; without a query all stay in their order, in groups.
func (p *Picker) filter(among []row) {
	q := NewQuery(p.query)
	p.at, p.top, p.fits = 0, 0, 0
	if q.Empty() {
		p.rows = p.all()
	} else {
		p.rows = p.fitting(q, among)
	}
	for _, r := range p.rows {
		if r.item >= 0 {
			p.fits++
		}
	}
	p.move(0)
}

func (p *Picker) all() []row {
	rows := make([]row, 0, len(p.items))
	group := ""
	for i, it := range p.items {
		if it.Group != group {
			group = it.Group
			rows = append(rows, row{item: -1, group: group})
		}
		rows = append(rows, row{item: i})
	}
	return rows
}

// inTitle is what a title that fits is worth more than a detail: of a title letters
// in order are enough, a detail must have the words as they are.
const inTitle = 1 << 16

func (p *Picker) fitting(q Query, among []row) []row {
	var rows []row
	try := func(i int) {
		if score, ok := q.Score(p.titles[i]); ok {
			rows = append(rows, row{item: i, score: score + inTitle})
		} else if q.In(p.details[i]) {
			rows = append(rows, row{item: i})
		}
	}
	if among == nil {
		for i := range p.items {
			try(i)
		}
	}
	for _, r := range among {
		try(r.item)
	}
	slices.SortFunc(rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.item, b.item))
	})
	return rows
}

// search changes the query. What did not fit the beginning of a word does not fit
// more of it.
func (p *Picker) search(query string) {
	var among []row
	if p.query != "" && strings.HasPrefix(query, p.query) && !NewQuery(p.query).Empty() {
		among = slices.Clone(p.rows)
		if among == nil {
			among = []row{}
		}
	}
	p.query = query
	p.filter(among)
}

// move puts the bar so many items further, past the groups' names.
func (p *Picker) move(by int) {
	if len(p.rows) == 0 {
		return
	}
	to := min(max(p.at+by, 0), len(p.rows)-1)
	if p.rows[to].item < 0 && by < 0 && to > 0 {
		to--
	}
	if p.rows[to].item < 0 { // an item follows every name
		to++
	}
	p.at = to
}

// Update takes a message. A nil dialog closes it.
func (p *Picker) Update(msg tea.Msg) (ui.Dialog, tea.Cmd) {
	before, _ := p.ID()
	switch m := msg.(type) {
	case Fill:
		if m.Picker == p.opts.ID {
			p.fill(m.Items)
		}
	case tea.KeyPressMsg:
		if d, cmd, done := p.key(m); done {
			return d, cmd
		}
	case tea.PasteMsg:
		p.search(textinput.LinePaste(p.query, m.Content))
	case tea.MouseWheelMsg:
		p.wheel(m)
	case tea.MouseClickMsg:
		if p.click(m) {
			return p.choose()
		}
	}
	return p, p.moved(before)
}

func (p *Picker) moved(before string) tea.Cmd {
	now, _ := p.ID()
	if !p.opts.Follow || now == before {
		return nil
	}
	return ui.Send(Moved{p.opts.ID, now})
}

func (p *Picker) choose() (ui.Dialog, tea.Cmd) {
	id, ok := p.ID()
	if !ok {
		return p, nil
	}
	return nil, ui.Send(Chosen{p.opts.ID, id})
}

// key takes a key. It returns false if there is nothing more to say of it.
func (p *Picker) key(k tea.KeyPressMsg) (ui.Dialog, tea.Cmd, bool) {
	name := k.String()
	for _, own := range p.opts.Keys {
		if own.Key == name {
			id, _ := p.ID()
			return p, ui.Send(Pressed{p.opts.ID, id, name}), true
		}
	}
	switch p.shared.Keys.Action(keys.Dialog, name) {
	case keys.Choose:
		d, cmd := p.choose()
		return d, cmd, true
	case keys.Close:
		return nil, ui.Send(Closed{p.opts.ID}), true
	case keys.Up:
		p.move(-1)
	case keys.Down:
		p.move(1)
	default:
		p.edit(k)
	}
	return nil, nil, false
}

// edit changes the query, or moves by pages.
func (p *Picker) edit(k tea.KeyPressMsg) {
	switch k.String() {
	case "pgup":
		p.move(-max(1, p.listed-1))
	case "pgdown":
		p.move(max(1, p.listed-1))
	case "home":
		p.move(-len(p.rows))
	case "end":
		p.move(len(p.rows))
	default:
		if query := textinput.LineKey(p.query, k); query != p.query {
			p.search(query)
		}
	}
}
