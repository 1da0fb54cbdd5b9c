"""Stands for chromadb.telemetry.opentelemetry: nothing is traced.

The original wants the OpenTelemetry SDK, its exporter and gRPC (30 MB), and does nothing either
unless a collector is configured.
"""
from enum import Enum

from chromadb.config import Component


class OpenTelemetryGranularity(Enum):
    NONE = "none"
    OPERATION = "operation"
    OPERATION_AND_SEGMENT = "operation_and_segment"
    ALL = "all"


class OpenTelemetryClient(Component):
    """One of the components that every store is made of."""


def trace_method(trace_name, trace_granularity, attributes=None):
    return lambda method: method


def add_attributes_to_current_span(attributes):
    """There is no span."""
