package site

import (
	"bytes"
	"compress/gzip"
	"path"

	"github.com/ttreport/ttreport/render"
)

// page writes a page, with the data of its figures beside it.
func (p *part) page(page render.Page) error {
	page = view(p.b, page)
	html, err := p.b.pages.page(page)
	if err != nil {
		return err
	}
	if planes := planesOf(page); len(planes) > 0 {
		at := render.Address(path.Join(shardID(page.Path), planesFile))
		if err := p.shard(at, "planes "+shardID(page.Path), planes); err != nil {
			return err
		}
	}
	return p.put(page.Path, html)
}

// planesOf are the planes of a page by their ids.
func planesOf(page render.Page) map[string]*render.Plane {
	out := map[string]*render.Plane{}
	for _, s := range page.Sections {
		for _, b := range s.Blocks {
			if p, ok := b.(*render.Plane); ok {
				out[p.ID] = p
			}
		}
	}
	return out
}

// compressed is data by gzip, without a name or a time: same data, same bytes.
func (b *builder) compressed(data []byte) ([]byte, error) {
	var out bytes.Buffer
	w, ok := b.packing.Get().(*gzip.Writer)
	if ok {
		w.Reset(&out)
	} else {
		w, _ = gzip.NewWriterLevel(&out, gzip.BestSpeed) // fails for other levels
	}
	defer b.packing.Put(w)
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err := w.Close()
	return out.Bytes(), err
}
