package builtin

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"

	"github.com/ttreport/ttreport/collect/traffic"
)

// picture makes PNGs of one size whose pixels differ from request to request, so that no cache of a server knows them.
// They are encoded once: what changes is the palette, a chunk of its own with a checksum (PNG specification, 5.3 and
// 11.2).
type picture struct {
	file    []byte
	palette int // place of the palette's content
	colours int
}

const pictureSquares = 32 // pixels of a side of the squares that a picture is made of

func newPicture(size traffic.Image, seed uint64) (*picture, error) {
	const colours = 64
	rng := rand.New(rand.NewPCG(seed, 0x696d616765))
	palette := make(color.Palette, colours)
	for i := range palette {
		palette[i] = color.RGBA{uint8(i), uint8(i), uint8(i), 255}
	}
	img := image.NewPaletted(image.Rect(0, 0, size.Width, size.Height), palette)
	across := size.Width/pictureSquares + 1
	squares := make([]uint8, across*(size.Height/pictureSquares+1))
	for i := range squares {
		squares[i] = uint8(rng.IntN(colours))
	}
	for y := range size.Height {
		for x := range size.Width {
			img.Pix[y*img.Stride+x] = squares[y/pictureSquares*across+x/pictureSquares]
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		return nil, fmt.Errorf("picture: %w", err)
	}
	at := bytes.Index(b.Bytes(), []byte("PLTE"))
	if at < 0 {
		return nil, fmt.Errorf("picture: it has no palette")
	}
	return &picture{b.Bytes(), at + 4, colours}, nil
}

// appendTo appends the picture of a request, in base64.
func (p *picture) appendTo(b []byte, seed uint64, i int) []byte {
	file := bytes.Clone(p.file)
	rng := rand.NewPCG(seed, uint64(int64(i)))
	colours := file[p.palette : p.palette+3*p.colours]
	for k := range colours {
		colours[k] = byte(rng.Uint64())
	}
	end := p.palette + 3*p.colours
	binary.BigEndian.PutUint32(file[end:], crc32.ChecksumIEEE(file[p.palette-4:end]))
	return base64.StdEncoding.AppendEncode(b, file)
}
