"""Respondents' devices: draw, keep, send, and send again until it is acknowledged. The standard library alone.

Client    one respondent, who may raise or withdraw later
Hub       many respondents who share a device, such as an interviewer's or one in a waiting room
"""

from __future__ import annotations

from deniable.client.client import Client
from deniable.client.connection import NotSent, NotTaken
from deniable.client.hub import Hub

__all__ = ["Client", "Hub", "NotSent", "NotTaken"]
