package traffic

import (
	"fmt"
	"strconv"
	"strings"
)

// Image is the size of a made-up picture that each request of a chat has, in pixels. The zero value is none.
type Image struct{ Width, Height int }

// mostPixels bounds a side.
const mostPixels = 4096

// ParseImage reads a size such as 1024x768.
func ParseImage(text string) (Image, error) {
	w, h, ok := strings.Cut(text, "x")
	var i Image
	var err, err2 error
	i.Width, err = strconv.Atoi(w)
	i.Height, err2 = strconv.Atoi(h)
	if !ok || err != nil || err2 != nil || i.Width < 1 || i.Height < 1 || i.Width > mostPixels || i.Height > mostPixels {
		return Image{}, fmt.Errorf("image=%s is no size in pixels up to %d, as in image=1024x768", text, mostPixels)
	}
	return i, nil
}

// String is the size as ParseImage reads it.
func (i Image) String() string {
	if i.Width == 0 {
		return ""
	}
	return fmt.Sprintf("%dx%d", i.Width, i.Height)
}
