package bus

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-dev/pawl"
)

func TestDefaults(t *testing.T) {
	t.Parallel()
	if diff := cmp.Diff(Config{Queue: 256, Poll: time.Second}, New(nil, Config{}).cfg); diff != "" {
		t.Error(diff)
	}
	if got := New(nil, Config{Link: deaf{}}).cfg.Poll; got != 15*time.Second {
		t.Errorf("with a link it polls every %v, want 15s", got)
	}
}

// deaf is a link that carries nothing.
type deaf struct{}

func (deaf) Send(pawl.SessionID, []pawl.Event)                       {}
func (deaf) Listen(pawl.SessionID, func([]pawl.Event)) (stop func()) { return func() {} }

// A reader never holds more than its limit, whatever it is offered.
func TestReaderQueue(t *testing.T) {
	t.Parallel()
	saved, unsaved := pawl.Event{Seq: 1}, pawl.Event{}
	tests := []struct {
		name  string
		offer []pawl.Event
		want  []pawl.Event
		cut   bool
	}{
		{"nothing", nil, nil, false},
		{"up to the limit", []pawl.Event{saved, unsaved, saved}, []pawl.Event{saved, unsaved, saved}, false},
		{"unsaved ones too many are dropped", []pawl.Event{saved, saved, unsaved, unsaved, unsaved}, []pawl.Event{saved, saved, unsaved}, false},
		{"a durable one too many cuts off", []pawl.Event{saved, unsaved, unsaved, saved}, []pawl.Event{}, true},
		{"nothing is queued once cut off", []pawl.Event{saved, saved, saved, saved, unsaved, saved}, []pawl.Event{}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := &reader{limit: 3, news: make(chan struct{}, 1)}
			for _, e := range tt.offer {
				r.offer([]pawl.Event{e})
			}
			got, cut := r.take(nil)
			if diff := cmp.Diff(tt.want, got); diff != "" || cut != tt.cut {
				t.Errorf("cut off %v, want %v; %s", cut, tt.cut, diff)
			}
			r.offer([]pawl.Event{saved})
			if got, cut := r.take(got); len(got) != 1 || cut {
				t.Errorf("after a take: %v, cut off %v; want to begin anew", got, cut)
			}
		})
	}
}
