package transaction

import "sync"

// users counts those who can write to a directory: transactions and background jobs.
type users struct {
	mu     sync.Mutex
	byRoot map[string][]*live
}

// live is one of the users of a directory.
type live struct {
	users  *users
	root   string
	others bool // there was another one at some time
}

func (u *users) enter(root string) *live {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.byRoot == nil {
		u.byRoot = map[string][]*live{}
	}
	l := &live{users: u, root: root, others: len(u.byRoot[root]) > 0}
	for _, other := range u.byRoot[root] {
		other.others = true
	}
	u.byRoot[root] = append(u.byRoot[root], l)
	return l
}

// shared reports whether there was another user since this one entered.
func (l *live) shared() bool {
	l.users.mu.Lock()
	defer l.users.mu.Unlock()
	return l.others
}

// leave may be called more than once.
func (l *live) leave() {
	l.users.mu.Lock()
	defer l.users.mu.Unlock()
	list := l.users.byRoot[l.root]
	for i, other := range list {
		if other == l {
			l.users.byRoot[l.root] = append(list[:i:i], list[i+1:]...)
		}
	}
	if len(l.users.byRoot[l.root]) == 0 {
		delete(l.users.byRoot, l.root)
	}
}
