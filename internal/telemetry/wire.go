package telemetry

import (
	"encoding/binary"
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// This file encodes the OTLP 1 messages that pawl sends, in protobuf's binary form. The
// field numbers are those of opentelemetry/proto; a test decodes the messages with its code.

// scopeName is the instrumentation scope of the spans and metrics.
const scopeName = "github.com/pawl-dev/pawl"

// message is a protobuf message under construction. Its methods omit zero values
// unless they say otherwise.
type message []byte

func (m *message) number(field protowire.Number, v uint64) {
	if v != 0 {
		*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), v)
	}
}

func (m *message) fixed(field protowire.Number, v uint64) {
	if v != 0 {
		*m = protowire.AppendFixed64(protowire.AppendTag(*m, field, protowire.Fixed64Type), v)
	}
}

func (m *message) time(field protowire.Number, t time.Time) {
	if !t.IsZero() {
		m.fixed(field, uint64(t.UnixNano())) //nolint:gosec // no times before 1970
	}
}

// double also writes zero, which is a measured value.
func (m *message) double(field protowire.Number, v float64) {
	*m = protowire.AppendFixed64(protowire.AppendTag(*m, field, protowire.Fixed64Type), math.Float64bits(v))
}

func (m *message) text(field protowire.Number, s string) {
	if s != "" {
		*m = protowire.AppendString(protowire.AppendTag(*m, field, protowire.BytesType), s)
	}
}

// bytes writes bytes, also if they are empty, or an embedded message.
func (m *message) bytes(field protowire.Number, b []byte) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), b)
}

func (m *message) attrs(field protowire.Number, list []Attr) {
	for _, a := range list {
		var kv message
		kv.text(1, a.Key)
		kv.bytes(2, anyValue(a.Value))
		m.bytes(field, kv)
	}
}

// anyValue encodes an AnyValue. Exactly one of its fields is set, even if it is
// zero.
func anyValue(v any) (m message) {
	switch v := v.(type) {
	case string:
		m.bytes(1, []byte(v))
	case bool:
		m = protowire.AppendVarint(protowire.AppendTag(m, 2, protowire.VarintType), protowire.EncodeBool(v))
	case int64:
		m = protowire.AppendVarint(protowire.AppendTag(m, 3, protowire.VarintType), uint64(v)) //nolint:gosec // protobuf encodes int64 so
	case float64:
		m.double(4, v)
	case []string:
		var list message
		for _, s := range v {
			list.bytes(1, anyValue(s))
		}
		m.bytes(5, list)
	}
	return m
}

// scoped wraps items in the envelope that trace and metric requests share: a
// resource and a scope.
func scoped(resource []Attr, version string, items func(m *message)) []byte {
	var res, scope, inner, outer, all message
	res.attrs(1, resource)
	scope.text(1, scopeName)
	scope.text(2, version)
	inner.bytes(1, scope)
	items(&inner)
	outer.bytes(1, res)
	outer.bytes(2, inner)
	all.bytes(1, outer)
	return all
}

// encodeSpans returns an ExportTraceServiceRequest.
func encodeSpans(resource []Attr, version string, spans []Span) []byte {
	return scoped(resource, version, func(m *message) {
		for _, s := range spans {
			m.bytes(2, s.encode())
		}
	})
}

const (
	kindInternal = 1
	kindClient   = 3
	statusError  = 2
	cumulative   = 2
)

func (s *Span) encode() (m message) {
	m.bytes(1, s.Trace[:])
	m.bytes(2, s.ID[:])
	if s.Parent != (SpanID{}) {
		m.bytes(4, s.Parent[:])
	}
	m.text(5, s.Name)
	kind := uint64(kindInternal)
	if s.Client {
		kind = kindClient
	}
	m.number(6, kind)
	m.time(7, s.Start)
	m.time(8, s.End)
	m.attrs(9, s.Attrs)
	for _, e := range s.Events {
		var event message
		event.time(1, e.At)
		event.text(2, e.Name)
		event.attrs(3, e.Attrs)
		m.bytes(11, event)
	}
	if s.Fault != "" {
		var status message
		status.text(2, s.Fault)
		status.number(3, statusError)
		m.bytes(15, status)
	}
	return m
}

// encodeMetrics returns an ExportMetricsServiceRequest.
func encodeMetrics(resource []Attr, version string, began, now time.Time, families []family) []byte {
	return scoped(resource, version, func(m *message) {
		for _, f := range families {
			if len(f.series) > 0 {
				m.bytes(2, f.encode(began, now))
			}
		}
	})
}

func (f *family) encode(began, now time.Time) (m message) {
	m.text(1, f.name)
	m.text(2, f.help)
	m.text(3, f.unit)
	var data message
	for _, s := range f.series {
		data.bytes(1, f.point(s, began, now))
	}
	switch f.kind {
	case gauge:
		m.bytes(5, data)
	case counter:
		data.number(2, cumulative)
		data.number(3, 1) // monotonic
		m.bytes(7, data)
	case histogram:
		data.number(2, cumulative)
		m.bytes(9, data)
	}
	return m
}

// point returns a NumberDataPoint or a HistogramDataPoint.
func (f *family) point(s series, began, now time.Time) (m message) {
	m.time(3, now)
	if f.kind != gauge {
		m.time(2, began)
	}
	if f.kind != histogram {
		m.attrs(7, f.attrs(s))
		m.double(4, s.sum)
		return m
	}
	m.attrs(9, f.attrs(s))
	m.fixed(4, s.count)
	m.double(5, s.sum)
	var counts, bounds []byte
	for _, n := range s.buckets {
		counts = binary.LittleEndian.AppendUint64(counts, n)
	}
	for _, b := range f.bounds {
		bounds = binary.LittleEndian.AppendUint64(bounds, math.Float64bits(b))
	}
	m.bytes(6, counts)
	m.bytes(7, bounds)
	return m
}

// attrs returns the labels of a series, without empty ones.
func (f *family) attrs(s series) (list []Attr) {
	for i, value := range s.labels {
		if value != "" {
			list = append(list, Attr{f.labels[i], value})
		}
	}
	return list
}
