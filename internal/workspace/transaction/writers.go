package transaction

import "sync"

// writers knows who can write to a directory: transactions and background jobs.
type writers struct {
	mu     sync.Mutex
	byRoot map[string][]*writer
}

// writer is a transaction or a job that can write to a directory.
type writer struct {
	all    *writers
	root   string
	others bool // there was another one at some time
}

func (ws *writers) enter(root string) *writer {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.byRoot == nil {
		ws.byRoot = map[string][]*writer{}
	}
	w := &writer{all: ws, root: root, others: len(ws.byRoot[root]) > 0}
	for _, other := range ws.byRoot[root] {
		other.others = true
	}
	ws.byRoot[root] = append(ws.byRoot[root], w)
	return w
}

// shared reports whether there was another writer since this one entered.
func (w *writer) shared() bool {
	w.all.mu.Lock()
	defer w.all.mu.Unlock()
	return w.others
}

// leave may be called more than once.
func (w *writer) leave() {
	w.all.mu.Lock()
	defer w.all.mu.Unlock()
	list := w.all.byRoot[w.root]
	for i, other := range list {
		if other == w {
			w.all.byRoot[w.root] = append(list[:i:i], list[i+1:]...)
		}
	}
	if len(w.all.byRoot[w.root]) == 0 {
		delete(w.all.byRoot, w.root)
	}
}
