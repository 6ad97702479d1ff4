package telemetry

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"sync"
)

// kind is the type of a metric.
type kind int

const (
	counter   kind = iota // only increases
	gauge                 // a current value
	histogram             // a distribution in buckets
)

// family is a metric with a series for each combination of label values.
type family struct {
	name   string // OpenTelemetry's name
	help   string
	unit   string // UCUM unit; "" for a plain count
	kind   kind
	labels []string
	bounds []float64 // upper bounds of a histogram's buckets, ascending

	read   func() float64 // returns the current value; nil if the value is in series
	series []series
}

type series struct {
	labels  []string
	sum     float64
	count   uint64   // for a histogram: number of values
	buckets []uint64 // for a histogram: values in each bucket, not cumulative; one more than bounds
}

// Limits of cardinality: names come from models, servers and configuration, and a
// series is kept as long as the process runs.
const (
	maxNames  = 50  // distinct values of a label; further ones become other
	maxName   = 100 // bytes of a label value
	maxSeries = 500 // series of a metric; further ones are combined in one whose labels are all other
	other     = "other"
)

// registry holds the metrics. It is safe for concurrent use.
type registry struct {
	mu       sync.Mutex
	families []*family
	byName   map[string]*family
	names    map[string]map[string]bool // known values by label
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

// add adds v to a counter. A v that is not positive only creates the series.
func (r *registry) add(name string, v float64, labels ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.seriesOf(name, labels); v > 0 {
		s.sum += v
	}
}

// observe adds a value to a histogram.
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

// seriesOf returns the series with these label values, and creates it if it does
// not exist. The caller holds mu. An unknown name or a wrong number of labels is a
// programming error and panics.
func (r *registry) seriesOf(name string, values []string) *series {
	f := r.byName[name]
	if len(values) != len(f.labels) {
		panic("telemetry: " + name + " has different labels")
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

// bounded returns the label value to use for value, within the limits of
// cardinality.
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

// snapshot returns the current metrics, sorted by name.
func (r *registry) snapshot() []family {
	list := r.copied()
	for i := range list { // without the lock: read may wait for code that adds to a metric
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

// powers returns n bounds that start at first and increase by factor.
func powers(first, factor float64, n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = first * math.Pow(factor, float64(i))
	}
	return list
}
