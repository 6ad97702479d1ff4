package blob

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/pawl-dev/pawl"
	"github.com/pawl-dev/pawl/internal/fault"
)

const (
	// partSize is the size of a part of a large blob, which is held in memory.
	partSize = 16 << 20
	// maxTries bounds how often a request is sent.
	maxTries = 4
)

// bucket stores blobs in an S3-compatible store.
type bucket struct {
	core   *minio.Core
	name   string
	prefix string // "" or ends with a slash
}

var _ Store = (*bucket)(nil)

func openS3(u *url.URL) (Store, error) {
	s := &bucket{name: u.Host}
	if prefix := strings.Trim(u.Path, "/"); prefix != "" {
		if err := checkKey(prefix); err != nil {
			return nil, err
		}
		s.prefix = prefix + "/"
	}
	query := u.Query()
	for name := range query {
		if name != "endpoint" && name != "region" && name != "insecure" {
			return nil, fault.New(pawl.ErrInvalid, "blob store: unknown setting %q in the URL: use endpoint, region or insecure", name)
		}
	}
	insecure := query.Get("insecure")
	if insecure != "" && insecure != "1" {
		return nil, fault.New(pawl.ErrInvalid, "blob store: invalid setting insecure=%s: use insecure=1, or omit it", insecure)
	}
	endpoint := query.Get("endpoint")
	if endpoint == "" {
		endpoint = "s3.amazonaws.com"
	}
	core, err := minio.NewCore(endpoint, &minio.Options{
		Creds: credentials.NewChainCredentials([]credentials.Provider{
			&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{},
		}),
		Secure:     insecure == "",
		Region:     query.Get("region"),
		MaxRetries: maxTries,
	})
	if err != nil {
		return nil, fault.New(pawl.ErrInvalid, "blob store: %w", err)
	}
	s.core = core
	return s, nil
}

// Put sends a small blob in one request, and a large one as a multipart upload, which becomes visible when it
// is complete.
func (s *bucket) Put(ctx context.Context, key string, r io.Reader) error {
	if err := checkKey(key); err != nil {
		return err
	}
	var head bytes.Buffer
	size, err := io.CopyN(&head, &reader{ctx, r}, partSize)
	switch {
	case errors.Is(err, io.EOF):
		r = &head
	case err != nil:
		return fmt.Errorf("put blob %s: %w", key, err)
	default:
		r, size = &reader{ctx, io.MultiReader(&head, r)}, -1
	}
	failed := &errReader{r: r}
	_, err = s.core.Client.PutObject(ctx, s.name, s.prefix+key, failed, size, minio.PutObjectOptions{PartSize: partSize, ContentType: "application/octet-stream"})
	if failed.err != nil { // the error of the reader says more
		return fmt.Errorf("put blob %s: %w", key, failed.err)
	}
	return s.explain("put", key, err)
}

// errReader records the error of its reader.
type errReader struct {
	r   io.Reader
	err error
}

func (l *errReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		l.err = err
	}
	return n, err
}

func (s *bucket) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	body, _, _, err := s.core.GetObject(ctx, s.name, s.prefix+key, minio.GetObjectOptions{})
	if err != nil {
		return nil, s.explain("get", key, err)
	}
	return body, nil
}

func (s *bucket) Delete(ctx context.Context, key string) error {
	if err := checkKey(key); err != nil {
		return err
	}
	err := s.explain("delete", key, s.core.RemoveObject(ctx, s.name, s.prefix+key, minio.RemoveObjectOptions{}))
	if errors.Is(err, pawl.ErrNotFound) {
		return nil
	}
	return err
}

func (s *bucket) List(ctx context.Context, prefix string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		if err := checkPrefix(prefix); err != nil {
			yield(Info{}, err)
			return
		}
		for o := range s.core.ListObjectsIter(ctx, s.name, minio.ListObjectsOptions{Prefix: s.prefix + prefix, Recursive: true}) {
			if o.Err != nil {
				yield(Info{}, s.explain("list", prefix, o.Err))
				return
			}
			if !yield(Info{Key: strings.TrimPrefix(o.Key, s.prefix), Size: o.Size, Changed: o.LastModified}, nil) {
				return
			}
		}
		if ctx.Err() != nil { // the iterator ends without an error
			yield(Info{}, context.Cause(ctx))
		}
	}
}

// explain wraps an error of the store, with a hint what to do about it.
func (s *bucket) explain(verb, key string, err error) error {
	if err == nil {
		return nil
	}
	answer := minio.ToErrorResponse(err)
	switch {
	case answer.Code == minio.NoSuchKey:
		return fault.New(pawl.ErrNotFound, "blob %s not found", key)
	case answer.Code == minio.NoSuchBucket:
		return fault.New(pawl.ErrInvalid, "%s blob %s: bucket %s not found", verb, key, s.name).Hint("Create the bucket, or correct the URL of the blob store.")
	case answer.StatusCode == http.StatusForbidden || answer.StatusCode == http.StatusUnauthorized:
		return fault.New(pawl.ErrDenied, "%s blob %s: access to bucket %s denied: %w", verb, key, s.name, err).Hint("Check AWS_ACCESS_KEY_ID and its permissions.")
	default:
		return fault.New(pawl.ErrUnavailable, "%s blob %s: %w", verb, key, err)
	}
}
