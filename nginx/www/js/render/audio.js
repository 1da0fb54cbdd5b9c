// Raw samples from an agent, put into a WAV container so that the browser's own player takes them.

import { el } from "../dom.js";
import { bytesOf, isObject, valueOf } from "../json.js";

const MAX_SAMPLES = 48000 * 60 * 20;

const READERS = {
  float32: (bytes) => new Float32Array(bytes.buffer, 0, bytes.length >> 2),
  float64: (bytes) => new Float64Array(bytes.buffer, 0, bytes.length >> 3),
  int16: (bytes) => Float32Array.from(new Int16Array(bytes.buffer, 0, bytes.length >> 1), (sample) => sample / 32768),
};

export function audio(message, { keep }) {
  const value = valueOf(message);
  const metadata = isObject(value?.metadata) ? value.metadata : {};
  const { sample_rate: rate, dtype, shape } = metadata;
  if (!Number.isInteger(rate) || rate < 1000 || rate > 384000)
    throw new RangeError("audio has a sample rate");
  const read = Object.hasOwn(READERS, dtype) ? READERS[dtype] : null;
  if (!read)
    throw new TypeError(`samples of type ${dtype}`);
  const samples = read(bytesOf(value.audio_data_base64));
  const channels = Array.isArray(shape) && shape.length === 2 && shape[0] >= 1 && shape[0] <= 8 ? shape[0] : 1;
  if (samples.length > MAX_SAMPLES || samples.length % channels)
    throw new RangeError(`${samples.length} samples`);
  const url = keep(URL.createObjectURL(new Blob([wave(samples, channels, rate)], { type: "audio/wav" })));
  return el("audio", { controls: true, preload: "metadata", src: url, testid: "audio", "aria-label": "Speech of the agent" });
}

/** 16-bit WAV; the samples lie channel after channel, in WAV they alternate. */
function wave(samples, channels, rate) {
  const view = new DataView(new ArrayBuffer(44 + samples.length * 2));
  const word = (at, text) => [...text].forEach((char, i) => view.setUint8(at + i, char.charCodeAt(0)));
  word(0, "RIFF");
  view.setUint32(4, 36 + samples.length * 2, true);
  word(8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, channels, true);
  view.setUint32(24, rate, true);
  view.setUint32(28, rate * channels * 2, true);
  view.setUint16(32, channels * 2, true);
  view.setUint16(34, 16, true);
  word(36, "data");
  view.setUint32(40, samples.length * 2, true);
  const length = samples.length / channels;
  for (let i = 0; i < length; i++)
    for (let channel = 0; channel < channels; channel++) {
      const sample = Math.max(-1, Math.min(1, samples[channel * length + i] || 0));
      view.setInt16(44 + (i * channels + channel) * 2, sample * 32767, true);
    }
  return view.buffer;
}
