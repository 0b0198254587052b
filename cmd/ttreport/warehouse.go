package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ttreport/ttreport/ingest/durable"
	"github.com/ttreport/ttreport/render/parquet"
	"github.com/ttreport/ttreport/site/bucket"
)

// warehouse is where an export is: a folder or a bucket. Names have slashes. Each file is whole, or what it was.
type warehouse interface {
	read(ctx context.Context, name string) ([]byte, error) // fs.ErrNotExist where there is none
	empty(ctx context.Context) (bool, error)
	// files are the names of the exported files that are there.
	files(ctx context.Context) ([]string, error)
	// put reports whether it wrote: what has the same content stays. It is called after files, by several at once.
	put(ctx context.Context, name string, data []byte) (bool, error)
	remove(ctx context.Context, name string) error
}

// openWarehouse returns the warehouse of an argument. Keys of a bucket are in the environment.
func openWarehouse(at string) (warehouse, error) {
	if !strings.HasPrefix(at, bucket.Scheme) {
		return folderOf(at), nil
	}
	b, err := bucket.Open(at, os.Getenv)
	if err != nil {
		return nil, err
	}
	return &objects{bucket: b}, nil
}

// folderOf is a warehouse on disk.
type folderOf string

func (d folderOf) at(name string) string { return filepath.Join(string(d), filepath.FromSlash(name)) }

func (d folderOf) read(_ context.Context, name string) ([]byte, error) {
	return os.ReadFile(d.at(name))
}

func (d folderOf) empty(context.Context) (bool, error) {
	list, err := os.ReadDir(string(d))
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	return len(list) == 0, err
}

func (d folderOf) files(context.Context) ([]string, error) {
	var out []string
	for _, table := range parquet.Tables() {
		names, err := fs.Glob(os.DirFS(string(d)), table+"/partition=*/"+partName)
		if err != nil {
			return nil, err
		}
		out = append(out, names...)
	}
	return out, nil
}

func (d folderOf) put(_ context.Context, name string, data []byte) (bool, error) {
	return durable.WriteChanged(d.at(name), data)
}

func (d folderOf) remove(_ context.Context, name string) error {
	if err := os.Remove(d.at(name)); err != nil {
		return err
	}
	_ = os.Remove(filepath.Dir(d.at(name))) // somebody else's file may be in it
	return nil
}

// objects is a warehouse in a bucket.
type objects struct {
	bucket *bucket.Bucket
	found  map[string]*bucket.Object // by name, as files found them
}

func (o *objects) read(ctx context.Context, name string) ([]byte, error) {
	return o.bucket.Get(ctx, name)
}

func (o *objects) empty(ctx context.Context) (bool, error) {
	list, err := o.bucket.List(ctx, "", 2)
	other := func(found bucket.Object) bool { return found.Name != "" } // than the mark of a prefix, as consoles make it
	return !slices.ContainsFunc(list, other), err
}

func (o *objects) files(ctx context.Context) ([]string, error) {
	o.found = map[string]*bucket.Object{}
	var out []string
	for _, table := range parquet.Tables() {
		list, err := o.bucket.List(ctx, table+"/partition=", 0)
		if err != nil {
			return nil, err
		}
		for i := range list {
			rest, ours := strings.CutSuffix(list[i].Name, "/"+partName)
			if ours && strings.Count(rest, "/") == 1 {
				o.found[list[i].Name] = &list[i]
				out = append(out, list[i].Name)
			}
		}
	}
	return out, nil
}

func (o *objects) put(ctx context.Context, name string, data []byte) (bool, error) {
	return o.bucket.Put(ctx, name, data, o.found[name])
}

func (o *objects) remove(ctx context.Context, name string) error { return o.bucket.Remove(ctx, name) }
