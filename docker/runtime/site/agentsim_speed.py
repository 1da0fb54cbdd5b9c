"""Speech at another speed but the same pitch: what a speech reply with a speed needs of librosa.

librosa itself would bring numba, scipy and scikit-learn, more than all the rest of the runtime.
"""
import numpy

FRAME, HOP = 2048, 512
WINDOW = 0.5 - 0.5 * numpy.cos(2 * numpy.pi * numpy.arange(FRAME) / FRAME)
# How far the phase of each frequency turns from one frame to the next
TURN = 2 * numpy.pi * HOP / FRAME * numpy.arange(FRAME // 2 + 1)


def spectra(sound):
    padded = numpy.pad(sound, (FRAME // 2, FRAME // 2 + HOP))
    frames = numpy.lib.stride_tricks.sliding_window_view(padded, FRAME)[::HOP]
    return numpy.fft.rfft(frames * WINDOW)


def overlapped(parts):
    """The sound of which these are the spectra."""
    length = FRAME + HOP * (len(parts) - 1)
    sound, weight = numpy.zeros(length), numpy.zeros(length)
    for at, part in zip(range(0, length, HOP), parts):
        sound[at:at + FRAME] += numpy.fft.irfft(part, FRAME) * WINDOW
        weight[at:at + FRAME] += WINDOW**2
    return sound / numpy.maximum(weight, 1e-8)


def at_speed(parts, rate):
    """Spectra on a stretched time: sizes come from the nearest two, phases go on where they were."""
    phase = numpy.angle(parts[0])
    for moment in numpy.arange(0, len(parts) - 1, rate):
        left = int(moment)
        before, after = parts[left], parts[left + 1]
        share = moment - left
        yield ((1 - share) * abs(before) + share * abs(after)) * numpy.exp(1j * phase)
        drift = numpy.angle(after) - numpy.angle(before) - TURN
        phase += TURN + drift - 2 * numpy.pi * numpy.round(drift / (2 * numpy.pi))


class effects:
    @staticmethod
    def time_stretch(y, *, rate):
        if not rate > 0:
            raise ValueError(f"a speed of {rate} is not possible")
        if not len(y):
            return y
        sound = overlapped(list(at_speed(spectra(y), rate)))[FRAME // 2:]
        wanted = round(len(y) / rate)
        return numpy.pad(sound[:wanted], (0, max(0, wanted - len(sound)))).astype(y.dtype)
