package telemetry

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// textType is the content type of Prometheus' text format.
const textType = "text/plain; version=0.0.4; charset=utf-8"

// Handler returns an HTTP handler that serves the metrics in Prometheus' text
// format.
func (t *Telemetry) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", textType)
		_ = writeText(w, t.metrics.snapshot()) // the client has disconnected
	})
}

func writeText(w io.Writer, families []family) error {
	var b bytes.Buffer
	for _, f := range families {
		if len(f.series) == 0 {
			continue
		}
		name := f.textName()
		b.WriteString("# HELP " + name + " " + escapeHelp.Replace(f.help) + "\n")
		b.WriteString("# TYPE " + name + " " + [...]string{"counter", "gauge", "histogram"}[f.kind] + "\n")
		for _, s := range f.series {
			f.writeSeries(&b, name, s)
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (f *family) writeSeries(b *bytes.Buffer, name string, s series) {
	var labels []string
	for _, a := range f.attrs(s) {
		labels = append(labels, plainName(a.Key)+`="`+escapeLabel.Replace(a.Value.(string))+`"`) //nolint:forcetypeassert // label values are strings
	}
	line := func(name, value string, more ...string) {
		b.WriteString(name)
		if all := slices.Concat(labels, more); len(all) > 0 {
			b.WriteString("{" + strings.Join(all, ",") + "}")
		}
		b.WriteString(" " + value + "\n")
	}
	if f.kind != histogram {
		line(name, number(s.sum))
		return
	}
	var below uint64
	for i, n := range s.buckets {
		below += n
		bound := "+Inf"
		if i < len(f.bounds) {
			bound = number(f.bounds[i])
		}
		line(name+"_bucket", strconv.FormatUint(below, 10), `le="`+bound+`"`)
	}
	line(name+"_sum", number(s.sum))
	line(name+"_count", strconv.FormatUint(s.count, 10))
}

// textName returns the metric's name by Prometheus' conventions: with its unit, and
// with _total for a counter.
func (f *family) textName() string {
	name := plainName(f.name)
	switch f.unit {
	case "s":
		name += "_seconds"
	case "By":
		name += "_bytes"
	}
	if f.kind == counter {
		name += "_total"
	}
	return name
}

func plainName(name string) string { return strings.ReplaceAll(name, ".", "_") }

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

var (
	escapeLabel = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
	escapeHelp  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
)
