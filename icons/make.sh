#!/bin/sh
# Makes every size of the icon from icon.svg; needs rsvg-convert and ImageMagick. The results are committed.
set -eu
cd "$(dirname "$0")"
for size in 32 128 256 512; do
  rsvg-convert --width $size --height $size --output $size.png icon.svg
done
mv 32.png 32x32.png
mv 128.png 128x128.png
mv 256.png 128x128@2x.png
mv 512.png icon.png
for size in 16 24 32 48 64 256; do
  rsvg-convert --width $size --height $size --output ico-$size.png icon.svg
done
convert ico-16.png ico-24.png ico-32.png ico-48.png ico-64.png ico-256.png icon.ico
rm ico-*.png
