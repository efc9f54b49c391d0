"""scikit-learn's own callbacks, such as its ``ProgressBar``, if the installed version has them (1.9 and later).

To scikit-learn, a fit is a task and each record of the trace a subtask. Its interface is experimental: only this file
uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from medoids.result import TraceRecord

__all__ = ["CallbackSupportMixin", "reporting_steps"]

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Replaces the mixin of scikit-learn versions without callbacks."""


@contextmanager
def reporting_steps(estimator: Any, X: Any, y: Any) -> Iterator[Callable[[TraceRecord], object] | None]:
    """Provide the callback of a fit: the user's own, then those registered by ``set_callbacks``."""
    own: Any = estimator.callback
    if not hasattr(estimator, "_init_callback_context"):
        yield own
        return

    # Callbacks are torn down when the function wrapped by `with_callbacks` ends, so wrapping an empty one tears them
    # down. Wrapping `fit` itself would add a stack frame, and warnings would point into scikit-learn.
    @with_callbacks  # type: ignore[untyped-decorator]
    def tear_down(estimator: Any) -> None:
        pass

    def callback(step: TraceRecord) -> object:
        answer = own(step) if own is not None else None
        task = context.subcontext(task_name=step.phase)
        task.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
        return True if task.call_on_fit_task_end(estimator=estimator, X=X, y=y) else answer

    # The fit itself rejects a callback that cannot be called.
    registered = getattr(estimator, "_skl_callbacks", None) and (own is None or callable(own))
    try:
        context = estimator._init_callback_context(max_subtasks=None)
        context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
        yield callback if registered else own
        context.call_on_fit_task_end(estimator=estimator, X=X, y=y)
    finally:
        tear_down(estimator)
