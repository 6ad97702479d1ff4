package inventory

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
)

// readJUnit parses JUnit XML, as written by pytest, node and many others. Suites may be nested.
func readJUnit(text []byte, root string) (*Inventory, error) {
	v := empty()
	d := xml.NewDecoder(bytes.NewReader(text))
	d.Entity = map[string]string{} // the document must not define its own
	seen := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		seen = seen || start.Name.Local == "testsuites" || start.Name.Local == "testsuite"
		if start.Name.Local != "testcase" {
			continue
		}
		var c junitCase
		if err := d.DecodeElement(&c, &start); err != nil {
			return nil, err
		}
		c.note(v, root)
	}
	if !seen {
		return nil, errors.New("no test suite found")
	}
	return v, nil
}

// junitCase is a test case.
type junitCase struct {
	Name    string     `xml:"name,attr"`
	Class   string     `xml:"classname,attr"`
	File    string     `xml:"file,attr"`
	Failure *junitText `xml:"failure"`
	Error   *junitText `xml:"error"`
	Skipped *struct{}  `xml:"skipped"`
}

// junitText is the reason why a test failed.
type junitText struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Body    string `xml:",chardata"`
}

func (t *junitText) String() string {
	const most = 4 << 10
	text := t.Type + ": " + t.Message + "\n" + t.Body
	return text[:min(len(text), most)]
}

func (c junitCase) note(v *Inventory, root string) {
	holder := c.Class
	if holder == "" || holder == "test" { // node writes "test" for each
		holder = strings.TrimPrefix(c.File, root)
	}
	status := Passed
	switch {
	case c.Failure != nil, c.Error != nil:
		status = Failed
	case c.Skipped != nil:
		status = Skipped
	}
	if c.Error != nil && (c.Class == "" || c.Name == "") { // pytest: the file failed to load
		v.Broken = append(v.Broken, strings.TrimPrefix(c.Class+c.Name, root))
		return
	}
	key := v.add(holder, c.Name, status)
	if c.File != "" {
		v.Files[holder] = strings.TrimPrefix(c.File, root)
	}
	for _, reason := range []*junitText{c.Failure, c.Error} {
		if reason != nil {
			v.Messages[key] = reason.String()
		}
	}
}
