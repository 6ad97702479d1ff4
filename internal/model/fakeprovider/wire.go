// Package fakeprovider is a provider that is not one: an HTTP server that speaks the
// protocols of the real ones, checks every request as they do, and takes its
// replies from a script. docs/guide/fake-provider.md describes it.
package fakeprovider

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/model"
	"github.com/pawl-dev/pawl/internal/model/script"
)

// Limits.
const (
	maxBody     = 64 << 20 // bytes of a request
	maxAttempts = 100_000  // requests whose repetitions are counted; then the count begins anew
)

// FaultHeader names a fault for the request that carries it, as a script spells it.
const FaultHeader = "Pawl-Fault"

// Config says how the server behaves. The zero value takes every key and has
// no faults but the script's.
type Config struct {
	Key   string                             // what requests must bring; empty: they need none
	Fault func(n int, r *http.Request) Fault // goes before the header's and the script's; n counts this very request, from 1
	Log   func(Record)                       // called once a request, before its answer, by many goroutines
}

// Record is what the server saw of a request.
type Record struct {
	Protocol Protocol
	Path     string
	Body     []byte
	Position int // how many replies its history holds
	Attempt  int // how often this very request has come, from 1
	Status   int // of the answer; 0 if the connection is dropped before
	Fault    Fault
	Message  string // what was wrong with the request
}

// Protocol is the name of a protocol.
type Protocol string

// The protocols.
const (
	Messages  Protocol = "messages"  // Anthropic
	Chat      Protocol = "chat"      // OpenAI Chat Completions
	Responses Protocol = "responses" // OpenAI
	Gemini    Protocol = "gemini"
)

// dialect is one protocol. Its methods keep nothing.
type dialect interface {
	key(r *http.Request) string
	read(r *http.Request, body []byte) (request, error) // checks all that is not common to the protocols
	events(req request, a answer) []event
	whole(req request, a answer) string
	failure(f failure) string
	failureEvents(sent int, f failure) []event // an error after so many events of a stream
}

// request is what the server needs to know of one.
type request struct {
	model        string
	stream       bool
	field        string         // that holds the messages
	messages     []pawl.Message // Seq is the place in that field, from 0
	prefill      string
	tools        []tool
	includeUsage bool // Chat: a last chunk with the usage
	encrypted    bool // Responses: reasoning comes sealed
	signed       bool // reasoning must come back after a call
}

// Open reads a script whose lines may have this server's faults.
func Open(path string) (*script.Model, error) {
	return script.OpenFor(path, func(k script.Kind) error {
		_, err := ParseFault(string(k))
		return err
	})
}

type server struct {
	Config
	script *script.Model

	mu       sync.Mutex
	attempts map[[sha256.Size]byte]int
}

// Handler serves the script over all protocols. Which reply it gives depends
// on the request alone: on how many replies its history holds.
func Handler(m *script.Model, c Config) http.Handler {
	s := &server{Config: c, script: m, attempts: map[[sha256.Size]byte]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", s.serve(Messages, messages{}))
	mux.HandleFunc("POST /v1/chat/completions", s.serve(Chat, chat{}))
	mux.HandleFunc("POST /v1/responses", s.serve(Responses, responses{}))
	mux.HandleFunc("POST /v1beta/models/{call}", s.serve(Gemini, gemini{}))
	mux.HandleFunc("GET /v1/models", s.models)
	mux.HandleFunc("GET /v1beta/models", s.geminiModels)
	return mux
}

func (s *server) serve(p Protocol, d dialect) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		rec := Record{Protocol: p, Path: r.URL.Path, Body: body, Attempt: s.count(r.URL.Path, body)}
		var req request
		var reply script.Reply
		f := failure{status: http.StatusBadRequest}
		switch key := d.key(r); {
		case err != nil:
			f = failure{status: http.StatusRequestEntityTooLarge, message: err.Error()}
		case s.Key != "" && key != s.Key:
			f.status, err = http.StatusUnauthorized, keyError(key)
		default:
			req, reply, rec.Position, err = s.reply(d, r, body)
		}
		if err == nil {
			rec.Fault, err = s.fault(rec.Attempt, r, reply)
		}
		if err != nil {
			f.message = err.Error()
			rec.Fault = Fault{Kind: KindStatus, Status: f.status, Message: f.message}
			rec.Message = f.message
		}
		x := exchange{w: w, r: r, d: d, req: req, delay: reply.Delay}
		x.answer(&rec, reply, s.Log)
	}
}

// reply reads the request, checks it and finds the script's reply to it.
func (s *server) reply(d dialect, r *http.Request, body []byte) (request, script.Reply, int, error) {
	req, err := d.read(r, body)
	if err != nil {
		return req, script.Reply{}, 0, err
	}
	req.takePrefill()
	position := req.replies()
	if err := req.check(); err != nil {
		return req, script.Reply{}, position, err
	}
	if err := s.checkReturned(req, position); err != nil {
		return req, script.Reply{}, position, err
	}
	reply, err := s.at(req, position)
	return req, reply, position, err
}

// at is the script's reply at a position. A model with the name of an agent
// replies from that agent's lines.
func (s *server) at(req request, position int) (script.Reply, error) {
	ask := model.Request{Replies: position, Messages: req.messages}
	if slices.Contains(s.script.Agents(), req.model) {
		ask.ParentCall, ask.Agent = "wire", req.model
	}
	return s.script.Reply(ask)
}

// fault is what happens to the attempt: the hook's, the header's or the script's.
func (s *server) fault(attempt int, r *http.Request, reply script.Reply) (Fault, error) {
	if s.Fault != nil {
		if f := s.Fault(attempt, r); f.Kind != "" {
			return f, nil
		}
	}
	if name := r.Header.Get(FaultHeader); name != "" {
		return ParseFault(name)
	}
	if reply.Fault == "" || reply.Times > 0 && attempt > reply.Times {
		return Fault{}, nil
	}
	f, err := ParseFault(string(reply.Fault))
	if f.Kind == KindError || f.Kind == KindOverloaded {
		f.Message = reply.Text
	}
	return f, err
}

// count returns how often this very request has come, this time included.
func (s *server) count(path string, body []byte) int {
	key := sha256.Sum256(append([]byte(path+"\n"), body...))
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.attempts) >= maxAttempts {
		clear(s.attempts)
	}
	s.attempts[key]++
	return s.attempts[key]
}

func keyError(key string) error {
	if key == "" {
		return errors.New("no API key was given")
	}
	return fmt.Errorf("the API key %.4q… is not the one that this server was started with", key)
}
