package transcript

import (
	"iter"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/pawl-dev/pawl"
)

// Transcript turns the events of a session into items. Whoever applies the changes that Apply
// returns to a set of items, by ID, has the same items at any time.
type Transcript struct {
	items    map[string]*Item
	order    []*Item // by position, also what was undone
	undone   undone
	free     []Item // of the last block
	lastCall *Item  // that callItem returned

	replySeq  pawl.Seq // ReplyStarted of the reply that is streamed
	replyAt   time.Time
	streams   map[pawl.Channel]*stream
	missed    bool
	asks      map[pawl.Seq]*Item         // asks without an answer
	output    map[*Item]*strings.Builder // the end of the output of running calls
	subagents []*Item                    // that work
	retry     *Item                      // the note about the pending retry
	turnAt    time.Time                  // when the turn started
	last      pawl.Seq                   // newest event of the log
	unsaved   int                        // number of unsaved notes
}

// stream is the text of a channel of the reply that is streamed.
type stream struct {
	item *Item
	text strings.Builder
	at   time.Time
}

// Change is what an event changed.
type Change struct {
	Items    []Item   `json:"items,omitempty"`    // new items, and those that replace one with the same ID
	Removed  []string `json:"removed,omitempty"`  // the IDs of items that are no longer shown
	Appended []Append `json:"appended,omitempty"` // text that was added to items
}

// Append is text that is added to the end of an item's text.
type Append struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// New returns an empty transcript.
func New() *Transcript {
	return &Transcript{items: map[string]*Item{}, streams: map[pawl.Channel]*stream{}, asks: map[pawl.Seq]*Item{}, output: map[*Item]*strings.Builder{}}
}

// Items returns the items that were not undone, in order.
func (t *Transcript) Items() []Item {
	list := make([]Item, 0, len(t.order))
	for _, it := range t.order {
		if !t.hidden(it) {
			list = append(list, *it)
		}
	}
	return list
}

// All returns the items that were not undone, in order. They belong to the transcript: they change
// with the next event, and must not be modified.
func (t *Transcript) All() iter.Seq[*Item] {
	return func(yield func(*Item) bool) {
		for _, it := range t.order {
			if !t.hidden(it) && !yield(it) {
				return
			}
		}
	}
}

// Get returns an item, or nil. Like those of All it belongs to the transcript.
func (t *Transcript) Get(id string) *Item { return t.items[id] }

// Item returns the item with an ID. ok is false if it does not exist or was undone.
func (t *Transcript) Item(id string) (it Item, ok bool) {
	p := t.items[id]
	if p == nil || t.hidden(p) {
		return Item{}, false
	}
	return *p, true
}

// hidden reports whether an item was undone.
func (t *Transcript) hidden(it *Item) bool { return t.undone.has(it.Seq) }

// put adds an item, or replaces the one with the same ID, and returns the transcript's own.
func (t *Transcript) put(c *Change, it Item) *Item {
	p := t.items[it.ID]
	if p == nil {
		p = t.alloc()
		*p = it
		t.items[it.ID] = p
		t.insert(p)
	} else {
		moved := position(p, &it) != 0
		if moved {
			t.take(p)
		}
		if *p = it; moved {
			t.insert(p)
		}
	}
	t.changed(c, p)
	return p
}

// alloc returns a new item. Items are allocated in blocks, which is faster.
func (t *Transcript) alloc() *Item {
	const block = 16
	if len(t.free) == 0 {
		t.free = make([]Item, block)
	}
	p := &t.free[0]
	t.free = t.free[1:]
	return p
}

// insert puts an item in the order.
func (t *Transcript) insert(it *Item) {
	i := len(t.order)
	if i > 0 && position(t.order[i-1], it) > 0 {
		i = sort.Search(i, func(i int) bool { return position(t.order[i], it) > 0 })
	}
	t.order = slices.Insert(t.order, i, it)
}

// take takes an item out of the order.
func (t *Transcript) take(it *Item) {
	i := sort.Search(len(t.order), func(i int) bool { return position(t.order[i], it) >= 0 })
	for ; i < len(t.order); i++ {
		if t.order[i] == it {
			t.order = slices.Delete(t.order, i, i+1)
			return
		}
	}
}

// changed records the newest version of an item in a change.
func (t *Transcript) changed(c *Change, it *Item) {
	if c == nil {
		return
	}
	c.Items = slices.DeleteFunc(c.Items, func(other Item) bool { return other.ID == it.ID })
	if t.hidden(it) {
		c.Removed = append(c.Removed, it.ID)
		return
	}
	c.Items = append(c.Items, *it)
}

// remove removes an item.
func (t *Transcript) remove(c *Change, id string) {
	it := t.items[id]
	if it == nil {
		return
	}
	t.take(it)
	delete(t.items, id)
	if c == nil {
		return
	}
	c.Items = slices.DeleteFunc(c.Items, func(other Item) bool { return other.ID == id })
	c.Removed = append(c.Removed, id)
}

// edit changes an item, unless it is nil.
func (t *Transcript) edit(c *Change, it *Item, f func(it *Item)) {
	if it == nil {
		return
	}
	old := Item{Seq: it.Seq, Part: it.Part}
	if it.Call != nil && c != nil { // an earlier change has the old one
		call := *it.Call
		it.Call = &call
	}
	if it.Ask != nil && c != nil {
		ask := *it.Ask
		it.Ask = &ask
	}
	f(it)
	if position(&old, it) != 0 {
		seq, part := it.Seq, it.Part
		it.Seq, it.Part = old.Seq, old.Part
		t.take(it)
		it.Seq, it.Part = seq, part
		t.insert(it)
	}
	t.changed(c, it)
}

// appendText adds text to an item.
func (t *Transcript) appendText(c *Change, it *Item, text, whole string) {
	it.Text = whole
	if c != nil && !t.hidden(it) {
		c.Appended = append(c.Appended, Append{it.ID, text})
	}
}

// undone are the parts of the conversation that were undone.
type undone struct {
	orders map[pawl.Seq]pawl.UndoAsked
	spans  map[pawl.Seq][2]pawl.Seq // by their Undone event: the first and the last event
}

func (u *undone) has(seq pawl.Seq) bool {
	for _, s := range u.spans {
		if s[0] <= seq && seq <= s[1] {
			return true
		}
	}
	return false
}

// undo hides what was undone, or shows what was redone.
func (t *Transcript) undo(c *Change, seq pawl.Seq, b pawl.Undone) pawl.UndoAsked {
	order, ok := t.undone.orders[b.Asked]
	if !ok || b.Refused != "" {
		return order
	}
	before := map[string]bool{}
	for _, it := range t.order {
		before[it.ID] = t.hidden(it)
	}
	switch {
	case order.Redo != 0:
		delete(t.undone.spans, order.Redo)
	case order.Scope.Conversation():
		if t.undone.spans == nil {
			t.undone.spans = map[pawl.Seq][2]pawl.Seq{}
		}
		t.undone.spans[seq] = [2]pawl.Seq{order.To, b.Asked - 1}
	}
	for _, it := range t.order {
		if t.hidden(it) != before[it.ID] {
			t.changed(c, it)
		}
	}
	return order
}
