// Package picker is a list with fuzzy search and a preview, to choose one item.
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

// Item is an item to choose. Its texts may be untrusted.
type Item struct {
	ID     string
	Title  string
	Detail string // shown at the end of the line, and searched
	Group  string // heading of consecutive items

	// Preview draws more of the item in that many cells. The result is not sanitized:
	// Preview must do that.
	Preview func(width, height int) string
}

// Key is an additional action for the selected item.
type Key struct {
	Key  string // as Bubble Tea names it
	Help string
}

// Options are optional. The zero value is useful.
type Options struct {
	ID     string // identifies the picker in its messages; "" means the title
	Query  string // initial query
	Chosen string // ID of the item that is selected first
	Empty  string // shown if there are no items
	Keys   []Key  // each sends Pressed, and the picker stays open
	Follow bool   // every move sends Moved
	// Active reports whether keys are accepted; the hints are muted if not. nil means always.
	Active func() bool
}

// Chosen reports the chosen item. The picker is closed.
type Chosen struct{ Picker, ID string }

// Pressed reports that a key of the options was pressed; ID is "" without a selected
// item.
type Pressed struct{ Picker, ID, Key string }

// Moved reports that another item is selected.
type Moved struct{ Picker, ID string }

// Closed reports that nothing was chosen.
type Closed struct{ Picker string }

// Fill replaces a picker's items, if they were not available at once.
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
	details []string // all texts, in lower case
	query   string
	rows    []row // matching items, and headings
	fits    int   // number of matching items
	at      int   // the selected row
	top     int   // the first visible row
	listed  int   // visible rows, as drawn last
	area    area  // position of the rows, as drawn last
}

// row is an item, or a heading if item is negative.
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

// Name returns the ID in its messages.
func (p *Picker) Name() string { return p.opts.ID }

// fill sets the items and keeps the selection.
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

// ID returns the selected item's ID.
func (p *Picker) ID() (string, bool) {
	if p.at >= len(p.rows) || p.rows[p.at].item < 0 {
		return "", false
	}
	return p.items[p.rows[p.at].item].ID, true
}

// filter finds the rows that match the query, among some or all items. The best come
// first; without a query, items keep their order and groups.
func (p *Picker) filter(among []row) {
	q := NewQuery(p.query)
	p.at, p.top, p.fits = 0, 0, 0
	if q.Empty() {
		p.rows = p.all()
	} else {
		p.rows = p.matching(q, among)
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

// inTitle is added to the score of a match in the title. In titles, letters in order
// match; in details, only whole words.
const inTitle = 1 << 16

func (p *Picker) matching(q Query, among []row) []row {
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

// search changes the query. If it only grows, only the current matches are searched.
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

// move moves the selection by that many rows, skipping headings.
func (p *Picker) move(by int) {
	if len(p.rows) == 0 {
		return
	}
	to := min(max(p.at+by, 0), len(p.rows)-1)
	if p.rows[to].item < 0 && by < 0 && to > 0 {
		to--
	}
	if p.rows[to].item < 0 { // an item follows every heading
		to++
	}
	p.at = to
}

// Update handles a message.
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

// key handles a key. It returns false if the dialog stays open without a command.
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
