package telemetry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Limits of sending.
const (
	maxQueue    = 2048 // spans that wait; further ones are dropped
	maxBatch    = 512  // spans in one request
	spansEvery  = 5 * time.Second
	metricEvery = time.Minute
	sendTime    = 10 * time.Second // timeout of a request
	closeTime   = 2 * time.Second  // time to send the remaining data at the end
	maxAnswer   = 64 << 10         // bytes of a response that are read
)

// sender sends spans and metrics in batches. It never blocks: spans that do not fit
// into the queue are dropped and counted. It starts with the first span, so a
// program without work sends nothing.
type sender struct {
	cfg      Config
	client   *http.Client
	resource []Attr
	metrics  *registry
	began    time.Time

	queue  chan Span
	ctx    context.Context //nolint:containedctx // of run; canceled by close
	cancel context.CancelFunc
	done   chan struct{} // closed to send the remaining data
	ended  chan struct{} // closed when run has returned

	mu      sync.Mutex
	started bool
	closed  bool
	lost    int   // number of spans that were not sent
	last    error // the latest error
}

func newSender(c Config, metrics *registry) *sender {
	s := &sender{
		cfg: c, client: c.Client, resource: c.resource(), metrics: metrics, began: time.Now(),
		queue: make(chan Span, maxQueue), done: make(chan struct{}), ended: make(chan struct{}),
	}
	if s.client == nil {
		s.client = &http.Client{
			Transport:     http.DefaultTransport.(*http.Transport).Clone(), //nolint:forcetypeassert // the standard library's
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s
}

// offer queues a span, or drops it if the queue is full.
func (s *sender) offer(span Span) {
	s.start()
	select {
	case s.queue <- span:
	default:
		s.drop(1, errors.New("the queue is full"))
	}
}

func (s *sender) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.started && !s.closed {
		s.started = true
		go s.run()
	}
}

// stop makes run send the remaining data. It reports whether run was started.
func (s *sender) stop() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.closed = true
		close(s.done)
	}
	return s.started
}

func (s *sender) drop(spans int, why error) {
	s.metrics.add(metricDropped, float64(spans), "spans")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost += spans
	s.last = why
}

// close stops the sender within closeTime and returns an error that says what was
// lost.
func (s *sender) close() error {
	defer s.cancel()
	if !s.stop() {
		return nil
	}
	timer := time.AfterFunc(closeTime, s.cancel)
	<-s.ended
	timer.Stop()
	s.client.CloseIdleConnections()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil {
		return nil
	}
	return fmt.Errorf("telemetry: %d spans were not sent to %s: %w", s.lost, s.cfg.Endpoint, s.last)
}

// run sends spans and metrics until the sender is closed.
func (s *sender) run() {
	defer close(s.ended)
	spans, metrics := time.NewTicker(spansEvery), time.NewTicker(metricEvery)
	defer spans.Stop()
	defer metrics.Stop()
	var batch []Span
	for {
		select {
		case span := <-s.queue:
			if batch = append(batch, span); len(batch) >= maxBatch {
				batch = s.sendSpans(batch)
			}
		case <-spans.C:
			batch = s.sendSpans(batch)
		case <-metrics.C:
			s.sendMetrics()
		case <-s.done:
			s.finish(batch)
			return
		}
	}
}

// finish sends the queued spans and the final metrics.
func (s *sender) finish(batch []Span) {
	for {
		select {
		case span := <-s.queue:
			if batch = append(batch, span); len(batch) >= maxBatch {
				batch = s.sendSpans(batch)
			}
		default:
			s.sendSpans(batch)
			s.sendMetrics()
			return
		}
	}
}

// sendSpans sends a batch, if it is not empty, and returns an empty one.
func (s *sender) sendSpans(batch []Span) []Span {
	if len(batch) == 0 {
		return batch
	}
	if err := s.post("/v1/traces", encodeSpans(s.resource, s.cfg.Version, batch)); err != nil {
		s.drop(len(batch), err)
	}
	return batch[:0]
}

func (s *sender) sendMetrics() {
	body := encodeMetrics(s.resource, s.cfg.Version, s.began, time.Now(), s.metrics.snapshot())
	if err := s.post("/v1/metrics", body); err != nil {
		s.metrics.add(metricDropped, 1, "metrics")
		s.mu.Lock()
		s.last = err
		s.mu.Unlock()
	}
}

func (s *sender) post(path string, body []byte) error {
	ctx, cancel := context.WithTimeout(s.ctx, sendTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(s.cfg.Endpoint, "/")+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-protobuf")
	req.Header.Set("User-Agent", "pawl/"+s.cfg.Version)
	for name, value := range s.cfg.Headers {
		req.Header.Set(name, value)
	}
	res, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, maxAnswer)) // so that the connection can be reused
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("the server answered %s", res.Status)
	}
	return nil
}
