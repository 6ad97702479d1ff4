package project

// Files are files that can be matched.
type Files []file

// NewFiles makes them of paths, the newest first.
func NewFiles(paths []string) Files {
	var files Files
	for _, path := range paths {
		files = append(files, newFile(path))
	}
	return files
}

// Best returns those that fit best.
func (f Files) Best(query string, limit int) []string { return best(f, query, limit) }

// Best is that of paths.
func Best(paths []string, query string, limit int) []string {
	return NewFiles(paths).Best(query, limit)
}

// Listed waits until no files are listed.
func (d *Local) Listed() { d.files.work.Wait() }

// Directories is how many directories' files are known.
func (d *Local) Folders() int { return len(d.files.lists) }
