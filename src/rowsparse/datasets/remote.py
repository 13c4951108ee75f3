"""Named datasets on the network: fetched on request, kept only if their checksum is right."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rowsparse.datasets.base import DatasetError
from rowsparse.inputs import did_you_mean

# The sets of the scikit-feature repository (Li et al. 2018), at one commit, so that they stay.
SOURCE = (
    "https://raw.githubusercontent.com/jundongl/scikit-feature/"
    "48cffad4e88ff4b9d2f1c7baffb314d1b3303792/skfeature/data/"
)
CACHE = "rowsparse"


@dataclass(frozen=True)
class Remote:
    """A MATLAB file that can be fetched: its checksum, and what it is about."""

    sha256: str
    about: str


REMOTE = {
    "ALLAML": Remote(
        "068afe0fe1021932e1e7d801294c267de8aeaa9d41899acfac024e72b0d44c1e",
        "leukaemia, gene expression",
    ),
    "arcene": Remote(
        "779d678207b9a8c0ba8f2f5ecdb2216d9f98bf475ab040e806797efd36331bc5",
        "cancer, mass spectra",
    ),
    "BASEHOCK": Remote(
        "e0452e0f3c0fefdc5cb6352165e4ba4a25c3a2a7b5a5b4d44e103742d6317aa0",
        "newsgroups, words",
    ),
    "COIL20": Remote(
        "4595ebdda07f47b0eb014fcfaddc22b452f9aed9c1d9261a0d5bc336c1ee1344",
        "photographs of objects",
    ),
    "colon": Remote(
        "ffcdeba03eb67cec403fa1dc9f827c22a6e2c57786bf3e01dfe1b4b3e25e0a2f",
        "colon tumours, discretised",
    ),
    "GLIOMA": Remote(
        "c31cd32edd770c7a102729839e670e588bc959a591e0eae5a0676c9ca11d4c4f",
        "brain tumours, gene expression",
    ),
    "Isolet": Remote(
        "ea73c69b1342a7def8199458e53a70307a83d557eceb2579863dda57c3ccd2b1",
        "spoken letters",
    ),
    "leukemia": Remote(
        "eb92382fb77c968864cb0a92a2c77acde7f88ba7fe5fd5a64b98184e3a05269d",
        "leukaemia, discretised",
    ),
    "lung_small": Remote(
        "93c6a65eb1f6f9f95ac897010c337254a57c57e7f8c0c9a7963a0e03de8233f4",
        "lung cancer, discretised",
    ),
    "lymphoma": Remote(
        "bd834ed911d47ecf2e07625ed77617d514d89ee398fa2e7a787230f7cf5243f8",
        "lymphoma, discretised",
    ),
    "madelon": Remote(
        "7dc9c9ff8d902651948e2df7f9cb6ed38c5d91e4c4159914cecb1ddbc7def12c",
        "artificial, five features matter",
    ),
    "nci9": Remote(
        "e336aa43eaf3103803252604375a89141043994a54f93222f7ccc12b5b910789",
        "cell lines, discretised",
    ),
    "ORL": Remote(
        "e257ec36002e48688ed7f3b9fda13f479f2fd98864fa0672d1353eda1912b189",
        "faces",
    ),
    "orlraws10P": Remote(
        "6ffa58759c5636f4ce311d23e44ef8de9f39bbb844902154c0cc5daac71226d6",
        "faces",
    ),
    "PCMAC": Remote(
        "9999dfccf97ab88f87127dd3457da436acb75cda9f0af4750e7cae5fe1a31b25",
        "newsgroups, words",
    ),
    "pixraw10P": Remote(
        "aa4b474244ae847dc2efdc868c0ff58fc3748a830c2ffdf760a1697cf72088f8",
        "faces",
    ),
    "Prostate-GE": Remote(
        "050b598534dbc662f23e30f39b41354b61d02ab8567837bcf9b1091c1c636ab4",
        "prostate cancer, gene expression",
    ),
    "RELATHE": Remote(
        "1091fe26c721aa69ddc5ce3ebcef54e03565809cae07e1769cef45ad23ab28d0",
        "newsgroups, words",
    ),
    "TOX-171": Remote(
        "f52f57e61775b7830c84750456d7fadfd220d1cc8eed26419c3390eb9216cc84",
        "toxicology, gene expression",
    ),
    "warpAR10P": Remote(
        "92b5f7e72b5715ada8f2df16e6d8e5effd8e0034a53a656ed9ef76e3f727d413",
        "faces",
    ),
    "warpPIE10P": Remote(
        "0d22b0e4fe224ea7347ae266370b6eb0d724d5fd0ad7da71261a58c24e08c3c2",
        "faces",
    ),
    "Yale": Remote(
        "cccd29abd2c520dd5cc8ff7645b422c2bdadd59406a6b6a0239143d9d44afcf3",
        "faces",
    ),
}


def fetch_dataset(name: str) -> Path:
    """The file of a remote dataset, downloaded unless it is here already.

    Parameters
    ----------
    name : as ``rowsparse datasets list`` shows it

    Returns
    -------
    Path

    Examples
    --------
    >>> from rowsparse.datasets import fetch_dataset, load_dataset
    >>> fetch_dataset("ALLAML")  # doctest: +SKIP
    >>> load_dataset("ALLAML")  # doctest: +SKIP
    """
    if name not in REMOTE:
        raise DatasetError(
            f"{name!r}: expected the name of a dataset that can be fetched, got another; such are "
            f"{', '.join(REMOTE)}.{did_you_mean(name, REMOTE)}"
        )
    try:
        import pooch
    except ImportError:
        raise DatasetError(
            f"{name}: expected pooch, which downloads and checks files, got none; run pip install "
            f"pooch."
        ) from None
    pooch.get_logger().setLevel("ERROR")  # it would print where the file goes
    checksum = f"sha256:{REMOTE[name].sha256}"
    # kept under the name by which it was asked for: readers of the folder find it by that
    file = f"{name}.mat"
    folder = pooch.os_cache(CACHE)
    try:
        return Path(pooch.retrieve(f"{SOURCE}{file}", checksum, file, folder))
    except Exception as error:
        # Each step has its own family of errors; to the person who waits they are two things.
        if "hash" in str(error):
            raise DatasetError(
                f"{name}: expected the file with the known checksum, got another one from "
                f"{SOURCE}{file}; it was not kept: try again, and if it stays so, tell us."
            ) from error
        raise DatasetError(
            f"{name}: expected to reach {SOURCE}{file}, got no answer ({type(error).__name__}); "
            f"check the network, or put the file into the folder ROWSPARSE_DATA."
        ) from error


def fetched() -> dict[str, Path]:
    """The remote datasets that are here, by name."""
    try:
        import pooch
    except ImportError:
        return {}
    folder = pooch.os_cache(CACHE)
    files = {name: folder / f"{name}.mat" for name in REMOTE}
    return {name: file for name, file in files.items() if file.exists()}
