package pdftext

// page holds what is needed to extract the text of a page.
type page struct {
	contents  array
	resources any
}

// pages returns the pages in order. It visits each node of the page tree once,
// so cycles end.
func (f *file) pages() []page {
	var out []page
	seen := map[ref]bool{}
	var walk func(v, resources any, depth int)
	walk = func(v, resources any, depth int) {
		if r, ok := v.(ref); ok {
			if seen[r] {
				return
			}
			seen[r] = true
		}
		node := f.dict(v)
		if node == nil || depth > maxDepth || len(out) >= maxPages || !f.spend(1) {
			return
		}
		if own, ok := node["Resources"]; ok {
			resources = own
		}
		if kids := f.array(node["Kids"]); kids != nil {
			for _, kid := range kids {
				walk(kid, resources, depth+1)
			}
			return
		}
		contents := array{node["Contents"]}
		if list := f.array(node["Contents"]); list != nil {
			contents = list
		}
		out = append(out, page{contents, resources})
	}
	walk(f.dict(f.root)["Pages"], nil, 0)
	return out
}

// show writes the text of a page.
func (f *file) show(p page, out *writer) {
	var content []byte
	for _, v := range p.contents {
		if s, ok := f.get(v).(stream); ok && len(content) < maxStream {
			content = append(append(content, f.decode(s)...), '\n')
		}
	}
	run := &interpreter{file: f, out: out}
	run.content(content, f.dict(p.resources), identity, 0)
}
