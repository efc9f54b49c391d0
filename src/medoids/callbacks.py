"""scikit-learn's own callbacks, such as its ``ProgressBar``, where the installed version has them (1.9 and later).

To scikit-learn a fit is a task and each record of the trace a subtask. Its interface is experimental: this is the only
file that knows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from medoids.clustering import TraceRecord

__all__ = ["CallbackSupportMixin", "reporting_steps", "with_callbacks"]

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks."""

    def with_callbacks(method: Any) -> Any:
        return method


@contextmanager
def reporting_steps(estimator: Any, X: Any, y: Any) -> Iterator[Callable[[TraceRecord], object] | None]:
    """Give the fit its callback: the user's own, and after it those that ``set_callbacks`` registered."""
    own: Any = estimator.callback
    if not hasattr(estimator, "_init_callback_context"):
        yield own
        return
    context = estimator._init_callback_context(max_subtasks=None)
    context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
    if not getattr(estimator, "_skl_callbacks", None):
        yield own
    elif own is not None and not callable(own):
        yield own  # for the fit to refuse
    else:

        def tell(step: TraceRecord) -> object:
            answer = own(step) if own is not None else None
            task = context.subcontext(task_name=step.phase)
            task.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
            return True if task.call_on_fit_task_end(estimator=estimator, X=X, y=y) else answer

        yield tell
    context.call_on_fit_task_end(estimator=estimator, X=X, y=y)
