package telemetry

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
)

// kind is what a metric's values are.
type kind int

const (
	counter   kind = iota // only grows
	gauge                 // is as it is now
	histogram             // how often there were values up to each bound
)

// family is a metric: its name, and a series for each combination of its labels' values.
type family struct {
	name   string // as OpenTelemetry has it
	help   string
	unit   string // as UCUM has it; "" is a number of things
	kind   kind
	labels []string
	bounds []float64 // of a histogram, rising

	read   func() float64 // of a gauge
	series []series
}

type series struct {
	labels  []string
	sum     float64
	count   uint64   // of a histogram
	buckets []uint64 // likewise, one more than bounds: each counts what is above the one before
}

// The bounds of cardinality: names come from models, servers and configurations,
// and a series is kept as long as the process lives.
const (
	maxNames  = 50  // of models, and of tools; the rest is other
	maxName   = 100 // bytes of one
	maxSeries = 500 // of a metric; what would be more is one, with other for all its labels
	other     = "other"
)

// registry holds the metrics. It is safe for concurrent use.
type registry struct {
	mu       sync.Mutex
	families []*family
	byName   map[string]*family
	names    map[string]map[string]bool // by label: the values that are distinguished
}

func newRegistry() *registry {
	r := &registry{byName: map[string]*family{}, names: map[string]map[string]bool{}}
	for _, f := range families {
		r.register(f)
	}
	return r
}

func (r *registry) register(f family) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.families = append(r.families, &f)
	r.byName[f.name] = &f
}

// add adds to a counter.
func (r *registry) add(name string, v float64, labels ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.seriesOf(name, labels); v > 0 {
		s.sum += v
	}
}

// observe counts a value of a histogram.
func (r *registry) observe(name string, v float64, labels ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f, s := r.byName[name], r.seriesOf(name, labels)
	if s.buckets == nil {
		s.buckets = make([]uint64, len(f.bounds)+1)
	}
	i, _ := slices.BinarySearch(f.bounds, v)
	s.buckets[i]++
	s.count++
	s.sum += v
}

// seriesOf finds or makes the series. mu is held. A name or a number of labels
// that is not in the table is a slip here, and panics.
func (r *registry) seriesOf(name string, values []string) *series {
	f := r.byName[name]
	if len(values) != len(f.labels) {
		panic("telemetry: " + name + " has other labels")
	}
	values = slices.Clone(values)
	for i, label := range f.labels {
		values[i] = r.bounded(label, values[i])
	}
	same := func(s series) bool { return slices.Equal(s.labels, values) }
	i := slices.IndexFunc(f.series, same)
	if i < 0 && len(f.series) >= maxSeries-1 {
		for j := range values {
			values[j] = other
		}
		i = slices.IndexFunc(f.series, same)
	}
	if i < 0 {
		i = len(f.series)
		f.series = append(f.series, series{labels: values})
	}
	return &f.series[i]
}

// bounded is the value that a label is given.
func (r *registry) bounded(label, value string) string {
	value = strings.ToValidUTF8(value[:min(len(value), maxName)], "")
	known := r.names[label]
	if known == nil {
		known = map[string]bool{}
		r.names[label] = known
	}
	if !known[value] {
		if len(known) >= maxNames {
			return other
		}
		known[value] = true
	}
	return value
}

// snapshot returns the metrics as they are now, in the order of their names.
func (r *registry) snapshot() []family {
	list := r.copied()
	for i := range list { // without the lock: who is read may be at work on an event
		if f := &list[i]; f.read != nil {
			f.series = []series{{sum: f.read()}}
		}
		slices.SortFunc(list[i].series, func(a, b series) int { return slices.Compare(a.labels, b.labels) })
	}
	slices.SortFunc(list, func(a, b family) int { return cmp.Compare(a.name, b.name) })
	return list
}

func (r *registry) copied() []family {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]family, len(r.families))
	for i, f := range r.families {
		list[i] = *f
		list[i].series = slices.Clone(f.series)
		for j := range list[i].series {
			list[i].series[j].buckets = slices.Clone(f.series[j].buckets)
		}
	}
	return list
}

// powers returns n bounds, each factor times the one before.
func powers(first, factor float64, n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = first * math.Pow(factor, float64(i))
	}
	return list
}
