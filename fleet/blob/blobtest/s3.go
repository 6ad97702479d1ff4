package blobtest

import (
	"bufio"
	"bytes"
	"crypto/md5" //nolint:gosec // S3 names blobs so
	"encoding/hex"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// S3 is a server with the parts of the S3 API that the client needs, for one bucket. It does not verify
// signatures. It was written from the documentation, and not compared with real servers.
type S3 struct {
	Bucket string
	URL    string // reference of its blob store
	// Refuse, if set, can reject a request by returning a status other than 0.
	Refuse func(r *http.Request) int

	mu      sync.Mutex
	objects map[string]object
	uploads map[string]*upload
	last    int
}

type object struct {
	data    []byte
	changed time.Time
}

// upload is a multipart upload in progress.
type upload struct {
	key   string
	parts map[int][]byte
}

// NewS3 starts a server with an empty bucket that runs until the test ends.
func NewS3(t *testing.T) *S3 {
	t.Helper()
	s := &S3{Bucket: "bucket", objects: map[string]object{}, uploads: map[string]*upload{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	s.URL = "s3://" + s.Bucket + "/some/prefix?insecure=1&region=us-east-1&endpoint=" + strings.TrimPrefix(server.URL, "http://")
	return s
}

// Unfinished returns the number of uploads that were neither completed nor aborted.
func (s *S3) Unfinished() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.uploads)
}

// ServeHTTP implements [http.Handler].
func (s *S3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := content(r)
	if err != nil {
		refuse(w, http.StatusBadRequest, "IncompleteBody")
		return
	}
	if s.Refuse != nil {
		if status := s.Refuse(r); status != 0 {
			refuse(w, status, http.StatusText(status))
			return
		}
	}
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if bucket != s.Bucket {
		refuse(w, http.StatusNotFound, "NoSuchBucket")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	query := r.URL.Query()
	switch {
	case key == "" && query.Has("location"):
		answer(w, struct {
			XMLName xml.Name `xml:"LocationConstraint"`
		}{})
	case key == "" && query.Get("list-type") == "2":
		s.list(w, r)
	case query.Has("uploads") || query.Has("uploadId"):
		s.multipart(w, r, key, body)
	default:
		s.object(w, r, key, body)
	}
}

// object puts, gets and deletes a blob.
func (s *S3) object(w http.ResponseWriter, r *http.Request, key string, body []byte) {
	o, found := s.objects[key]
	switch {
	case r.Method == http.MethodPut:
		s.objects[key] = object{body, time.Now()}
		w.Header().Set("ETag", tag(body))
	case r.Method == http.MethodDelete:
		delete(s.objects, key)
		w.WriteHeader(http.StatusNoContent)
	case !found:
		refuse(w, http.StatusNotFound, "NoSuchKey")
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		w.Header().Set("ETag", tag(o.data))
		http.ServeContent(w, r, "", o.changed, bytes.NewReader(o.data))
	default:
		refuse(w, http.StatusMethodNotAllowed, "MethodNotAllowed")
	}
}

// multipart handles a multipart upload.
func (s *S3) multipart(w http.ResponseWriter, r *http.Request, key string, body []byte) {
	query := r.URL.Query()
	id := query.Get("uploadId")
	u := s.uploads[id]
	switch {
	case r.Method == http.MethodPost && query.Has("uploads"):
		s.last++
		id = strconv.Itoa(s.last)
		s.uploads[id] = &upload{key, map[int][]byte{}}
		answer(w, struct {
			XMLName               xml.Name `xml:"InitiateMultipartUploadResult"`
			Bucket, Key, UploadId string
		}{Bucket: s.Bucket, Key: key, UploadId: id})
	case u == nil || u.key != key:
		refuse(w, http.StatusNotFound, "NoSuchUpload")
	case r.Method == http.MethodPut:
		n, err := strconv.Atoi(query.Get("partNumber"))
		if err != nil {
			refuse(w, http.StatusBadRequest, "InvalidPart")
			return
		}
		u.parts[n] = body
		w.Header().Set("ETag", tag(body))
	case r.Method == http.MethodDelete:
		delete(s.uploads, id)
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodPost:
		s.complete(w, id, body)
	default:
		refuse(w, http.StatusMethodNotAllowed, "MethodNotAllowed")
	}
}

// complete assembles a blob from the parts in the request.
func (s *S3) complete(w http.ResponseWriter, id string, body []byte) {
	var named struct {
		Part []struct {
			PartNumber int
			ETag       string
		}
	}
	if err := xml.Unmarshal(body, &named); err != nil {
		refuse(w, http.StatusBadRequest, "MalformedXML")
		return
	}
	u, data := s.uploads[id], []byte{}
	for i, p := range named.Part {
		part, found := u.parts[p.PartNumber]
		small := len(part) < 5<<20 && i < len(named.Part)-1
		if !found || strings.Trim(p.ETag, `"`) != strings.Trim(tag(part), `"`) || small {
			refuse(w, http.StatusBadRequest, "InvalidPart")
			return
		}
		data = append(data, part...)
	}
	s.objects[u.key] = object{data, time.Now()}
	delete(s.uploads, id)
	answer(w, struct {
		XMLName           xml.Name `xml:"CompleteMultipartUploadResult"`
		Bucket, Key, ETag string
	}{Bucket: s.Bucket, Key: u.key, ETag: tag(data)})
}

// list returns up to 1,000 blobs.
func (s *S3) list(w http.ResponseWriter, r *http.Request) {
	type listed struct {
		Key, LastModified, ETag string
		Size                    int
	}
	out := struct {
		XMLName                             xml.Name `xml:"ListBucketResult"`
		Name, Prefix, NextContinuationToken string
		KeyCount                            int
		IsTruncated                         bool
		Contents                            []listed
	}{Name: s.Bucket, Prefix: r.URL.Query().Get("prefix")}
	after := r.URL.Query().Get("continuation-token")
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		if !strings.HasPrefix(key, out.Prefix) || key <= after {
			continue
		}
		if out.KeyCount == 1_000 {
			out.IsTruncated, out.NextContinuationToken = true, out.Contents[999].Key
			break
		}
		o := s.objects[key]
		out.KeyCount++
		out.Contents = append(out.Contents, listed{key, o.changed.UTC().Format("2006-01-02T15:04:05.000Z"), tag(o.data), len(o.data)})
	}
	answer(w, out)
}

func tag(data []byte) string {
	sum := md5.Sum(data) //nolint:gosec // it names, it does not protect
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

func answer(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/xml")
	_ = xml.NewEncoder(w).Encode(v) // fails only if the client has disconnected
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_ = xml.NewEncoder(w).Encode(struct {
		XMLName       xml.Name `xml:"Error"`
		Code, Message string
	}{Code: code, Message: code})
}

// content returns the body of a request, decoding signed chunks.
func content(r *http.Request) ([]byte, error) {
	if !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		return io.ReadAll(r.Body)
	}
	in, data := bufio.NewReader(r.Body), []byte{}
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		text, _, _ := strings.Cut(strings.TrimSpace(line), ";")
		size, err := strconv.ParseInt(text, 16, 32)
		if err != nil {
			return nil, err
		}
		if size == 0 {
			_, err = io.Copy(io.Discard, in)
			return data, err
		}
		chunk := make([]byte, size+2) // with CRLF
		if _, err := io.ReadFull(in, chunk); err != nil {
			return nil, err
		}
		if !bytes.HasSuffix(chunk, []byte("\r\n")) {
			return nil, errors.New("chunk without an end")
		}
		data = append(data, chunk[:size]...)
	}
}
