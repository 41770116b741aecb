"""Long work as a row of the database: started once, done by whichever process is alive, watched from anywhere."""

from core.jobs.job import Job, JobPage, JobRunning
from core.jobs.run import Cancelled, JobRun

__all__ = ["Cancelled", "Job", "JobPage", "JobRun", "JobRunning"]
