package tree

import "slices"

// originAttribute marks what overlayfs copied from the lower. Only root's mounts store from which file.
const originAttribute = overlayPrefix + "origin"

// noteOrigin remembers files that were copied from the lower but have no counterpart there: the command renamed or
// linked them, or somebody deleted the counterpart. It also remembers what the command may have renamed or linked.
func (s *scanner) noteOrigin(p *pair, own []string) {
	isCopy := slices.Contains(own, originAttribute)
	switch {
	case p.old.Type == Missing && isCopy && p.level.lower:
		s.copies[p.path] = true
	case p.old.Type == File && (!isCopy || p.up.Nlink > 1):
		s.renamed = true
	}
}

// findDeleted finds files that somebody deleted after the command changed them. They would look like new files. If the
// command renamed files as well, Scan cannot distinguish them, unless it knows what was there when the command began.
func (s *scanner) findDeleted() {
	for i := range s.changes {
		if c := &s.changes[i]; c.Old.Type == Missing {
			c.Old.Type = s.began[c.Path]
		}
		if s.changes[i].Old.Type == File && s.changes[i].New.Type != File {
			s.renamed = true
		}
	}
	if s.renamed {
		return
	}
	for i := range s.changes {
		if s.copies[s.changes[i].Path] {
			s.changes[i].Old = Stat{Type: File}
		}
	}
}
